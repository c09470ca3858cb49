//! The multiplicative subgroup of order 2^k and its coset, as provers use them.

use super::passes::{Layout, Passes};
use super::plan::MAX_RADIX_LOG;
use super::{Order, Transform, transform_many};
use crate::backend::{Abort, Stream};
use crate::field::{DeviceVector, NttField};
use crate::{Accelerator, Error, Report, Result};

/// Between coefficients and values, in natural order but for the output of forward transforms, which is in
/// [`Options::output`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Coefficients to values on the subgroup.
    Forward,
    /// Values on the subgroup to coefficients.
    Inverse,
    /// Coefficients to values on the coset.
    CosetForward,
    /// Values on the coset to coefficients.
    CosetInverse,
}

/// What the caller of a domain may settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options<F> {
    /// The coset's generator; the field's multiplicative generator where there is none.
    pub coset: Option<F>,
    /// Order of the values that forward transforms give.
    pub output: Order,
    /// Most levels of a pass on a device, up to 8, the choice where this is 0: fewer make more passes over memory.
    pub max_radix_log: u32,
}

impl<F> Default for Options<F> {
    fn default() -> Self {
        Self { coset: None, output: Order::Natural, max_radix_log: 0 }
    }
}

/// A subgroup of order `2^log_n` and a coset of it, with the transforms between coefficients and values.
///
/// Tables stay on the devices between calls, at most n/4 elements for a size (or 4 MiB).
#[derive(Debug, Clone)]
pub struct NttDomain<F> {
    accelerator: Accelerator,
    log_n: u32,
    omega: F,
    omega_inverse: F,
    length_inverse: F,
    coset: F,
    coset_inverse: F,
    output: Order,
    max_radix_log: u32,
}

impl<F: NttField> NttDomain<F> {
    /// The subgroup of order `2^log_n`, with the field's multiplicative generator for the coset.
    ///
    /// # Errors
    /// `log_n` is above the field's two-adicity.
    pub fn new(accelerator: &Accelerator, log_n: u32) -> Result<Self> {
        Self::with_options(accelerator, log_n, Options::default())
    }

    /// As [`Self::new`], with some things settled by the caller.
    ///
    /// # Errors
    /// `log_n` is above the field's two-adicity, or the coset's generator is zero.
    pub fn with_options(accelerator: &Accelerator, log_n: u32, options: Options<F>) -> Result<Self> {
        const PLACE: &str = "NttDomain";
        if log_n > F::S {
            return Err(Error::invalid(PLACE, "log_n", format!("at most the two-adicity {}", F::S), log_n));
        }
        let coset = options.coset.unwrap_or(F::MULTIPLICATIVE_GENERATOR);
        let coset_inverse = Option::<F>::from(coset.invert());
        let coset_inverse = coset_inverse
            .ok_or_else(|| Error::invalid(PLACE, "generator of the coset", "a nonzero element", "zero"))?;
        if options.max_radix_log > MAX_RADIX_LOG {
            let expected = format!("at most {MAX_RADIX_LOG}");
            return Err(Error::invalid(PLACE, "max_radix_log", expected, options.max_radix_log));
        }
        Ok(Self {
            accelerator: accelerator.clone(),
            log_n,
            omega: (log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square()),
            omega_inverse: (log_n..F::S).fold(F::ROOT_OF_UNITY_INV, |root, _| root.square()),
            length_inverse: (0..log_n).fold(F::ONE, |power, _| power * F::TWO_INV),
            coset,
            coset_inverse,
            output: options.output,
            max_radix_log: if options.max_radix_log == 0 { MAX_RADIX_LOG } else { options.max_radix_log },
        })
    }

    /// A primitive `2^log_n`-th root of unity.
    pub fn omega(&self) -> F {
        self.omega
    }

    /// Binary logarithm of the order.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// The coset's generator.
    pub fn coset(&self) -> F {
        self.coset
    }

    /// The transform of a direction as a sum.
    pub fn transform(&self, direction: Direction) -> Transform<F> {
        let forward = Transform { order: self.output, ..Transform::new(self.log_n, self.omega) };
        let inverse = Transform { scale: Some(self.length_inverse), ..Transform::new(self.log_n, self.omega_inverse) };
        match direction {
            Direction::Forward => forward,
            Direction::Inverse => inverse,
            Direction::CosetForward => Transform { shift_in: Some(self.coset), ..forward },
            Direction::CosetInverse => Transform { shift_out: Some(self.coset_inverse), ..inverse },
        }
    }

    /// Coefficients to values on the subgroup, in place.
    ///
    /// # Errors
    /// The slice is not `2^log_n` long, or a forced backend failed; the slice is then as it was.
    pub fn forward(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::Forward, &mut [values], None)
    }

    /// Values on the subgroup, in natural order, to coefficients, in place.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn inverse(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::Inverse, &mut [values], None)
    }

    /// Coefficients to values on the coset, in place.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn coset_forward(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::CosetForward, &mut [values], None)
    }

    /// Values on the coset, in natural order, to coefficients, in place.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn coset_inverse(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::CosetInverse, &mut [values], None)
    }

    /// Transforms vectors in host memory in place, all or none of them, spread over the devices.
    ///
    /// # Errors
    /// As [`Self::forward`], or the hook aborted.
    pub fn run(&self, direction: Direction, vectors: &mut [&mut [F]], abort: Abort<'_>) -> Result<Report> {
        transform_many(&self.accelerator, vectors, &vec![self.transform(direction); vectors.len()], abort)
    }

    /// Queues the transforms, in place, of the vectors of `2^log_n` elements that follow each other in `values`.
    ///
    /// # Errors
    /// There is no whole number of vectors, `values` is of another device or in use elsewhere, or the device has too
    /// little memory or failed; `values` is then undefined.
    pub fn enqueue(&self, direction: Direction, stream: &mut Stream, values: &mut DeviceVector<F>) -> Result<()> {
        let n = 1usize << self.log_n;
        if !values.len().is_multiple_of(n) {
            return Err(Error::invalid("ntt", "length on the device", format!("a multiple of {n}"), values.len()));
        }
        let vectors = u32::try_from(values.len() / n)
            .map_err(|_| Error::invalid("ntt", "number of vectors", "below 2^32", values.len() / n))?;
        let layout = Layout { vectors, stride: n as u64 };
        let passes = Passes::with_radix(stream, &self.transform(direction), layout, self.max_radix_log)?;
        if !passes.needs_other() {
            return passes.queue(stream, values.buffer(), None).map(drop);
        }
        let other = stream.allocate(values.buffer().bytes())?.secret();
        if passes.queue(stream, values.buffer(), Some(&other))? {
            values.replace(other);
        }
        Ok(())
    }
}
