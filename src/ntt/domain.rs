//! Defines the multiplicative subgroup of order 2^k and its coset, and transforms vectors in host memory on them, all
//! or none.

use std::fmt;
use std::sync::Arc;

use super::plan::MAX_RADIX_LOG;
use super::transform::Transform;
use super::{Order, TableSize, cpu, gpu};
use crate::backend::{Abort, Device};
use crate::exec::{ExecCtx, Operation, execute};
use crate::field::TransformField;
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};

/// Selects a transform between a polynomial's coefficients and its values. Coefficients are in natural order. Inverse
/// transforms take values in the order [`NttOptions::input`], forward ones return them in the order
/// [`NttOptions::output`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From coefficients to values on the subgroup.
    Forward,
    /// From values on the subgroup to coefficients.
    Inverse,
    /// From coefficients to values on the coset.
    CosetForward,
    /// From values on the coset to coefficients.
    CosetInverse,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
            Self::CosetForward => "coset forward",
            Self::CosetInverse => "coset inverse",
        })
    }
}

/// Holds the caller's options for a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NttOptions<F> {
    /// Generator ω of the subgroup H, a primitive `2^log_n`-th root of unity. `None` selects a power of the field's
    /// root of unity. Another root puts the same values in another order.
    pub omega: Option<F>,
    /// Generator g of the coset g·H. `None` selects the field's multiplicative generator.
    pub coset: Option<F>,
    /// Order of the values that inverse transforms take. Bit-reversed values cost a device one more pass over memory.
    pub input: Order,
    /// Order of the values that forward transforms return.
    pub output: Order,
    /// Binary logarithm of the maximum radix of a pass on a device, at most 8; 0 selects the default. A smaller radix
    /// takes more passes over memory.
    pub max_radix_log: u32,
    /// Size of the twiddle tables that devices keep between calls.
    pub tables: TableSize,
}

impl<F> Default for NttOptions<F> {
    fn default() -> Self {
        let (input, output) = (Order::Natural, Order::Natural);
        Self { omega: None, coset: None, input, output, max_radix_log: 0, tables: TableSize::Automatic }
    }
}

/// Describes a multiplicative subgroup H of order `2^log_n` and a coset g·H, with the transforms between a polynomial's
/// coefficients and its values on them.
///
/// The accelerator decides which devices it uses: see [`Accelerator::with_devices`]. Vectors in host memory are spread
/// over all of them. Work queued on a stream runs on the stream's device.
///
/// Tables stay on the devices between calls: see [`TableSize`].
///
/// ```
/// use ff::Field;
/// use proofwarp::{Accelerator, ntt::NttDomain};
///
/// let domain = NttDomain::<halo2curves::bn256::Fr>::new(&Accelerator::from_env()?, 3)?;
/// let mut values = vec![domain.omega(); 8]; // a constant, by its values on the subgroup
/// domain.inverse(&mut values)?;
/// assert_eq!((values[0], values[1]), (domain.omega(), Field::ZERO));
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NttDomain<F> {
    accelerator: Accelerator,
    log_n: u32,
    omega: F,
    omega_inverse: F,
    length_inverse: F,
    coset: F,
    coset_inverse: F,
    input: Order,
    output: Order,
    max_radix_log: u32,
    tables: TableSize,
}

impl<F: TransformField> NttDomain<F> {
    /// Creates the domain of order `2^log_n`. The generator g of its coset is the field's multiplicative generator.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `log_n` is above the field's two-adicity.
    pub fn new(accelerator: &Accelerator, log_n: u32) -> Result<Self> {
        Self::with_options(accelerator, log_n, NttOptions::default())
    }

    /// Creates the domain of order `2^log_n` with the given `options`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `log_n` is above the field's two-adicity.
    /// - [`Error::Invalid`]: `omega` is no primitive `2^log_n`-th root of unity.
    /// - [`Error::Invalid`]: the coset's generator is zero.
    /// - [`Error::Invalid`]: `max_radix_log` is above its range.
    pub fn with_options(accelerator: &Accelerator, log_n: u32, options: NttOptions<F>) -> Result<Self> {
        const ERROR_CONTEXT: &str = "NttDomain";
        if log_n > F::S {
            return Err(Error::invalid(ERROR_CONTEXT, "log_n", format!("at most the two-adicity {}", F::S), log_n));
        }
        let omega = options.omega.unwrap_or_else(|| (log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square()));
        Transform::new(log_n, omega).check(1 << log_n)?;
        let coset = options.coset.unwrap_or(F::MULTIPLICATIVE_GENERATOR);
        let coset_inverse = Option::<F>::from(coset.invert());
        let coset_inverse = coset_inverse
            .ok_or_else(|| Error::invalid(ERROR_CONTEXT, "generator of the coset", "a nonzero element", "zero"))?;
        if options.max_radix_log > MAX_RADIX_LOG {
            let expected = format!("at most {MAX_RADIX_LOG}");
            return Err(Error::invalid(ERROR_CONTEXT, "max_radix_log", expected, options.max_radix_log));
        }
        Ok(Self {
            accelerator: accelerator.clone(),
            log_n,
            omega,
            // The order of ω is 2^log_n, so this is its inverse.
            omega_inverse: omega.pow_vartime([(1 << log_n) - 1]),
            length_inverse: (0..log_n).fold(F::ONE, |power, _| power * F::TWO_INV),
            coset,
            coset_inverse,
            input: options.input,
            output: options.output,
            max_radix_log: options.max_radix_log,
            tables: options.tables,
        })
    }

    /// Returns ω, a primitive `2^log_n`-th root of unity.
    pub fn omega(&self) -> F {
        self.omega
    }

    /// Returns the binary logarithm of the subgroup's order.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// Returns g, the generator of the coset g·H.
    pub fn coset(&self) -> F {
        self.coset
    }

    /// Returns the parameters of the transform in `direction`: its root of unity, shifts, scale and orders.
    pub fn transform(&self, direction: Direction) -> Transform<F> {
        let by = |omega: F| Transform { tables: self.tables, ..Transform::new(self.log_n, omega) };
        let forward = Transform { order: self.output, ..by(self.omega) };
        let plain = Transform { input: self.input, ..by(self.omega_inverse) };
        let inverse = Transform { scale: Some(self.length_inverse), ..plain };
        match direction {
            Direction::Forward => forward,
            Direction::Inverse => inverse,
            Direction::CosetForward => Transform { shift_in: Some(self.coset), ..forward },
            Direction::CosetInverse => Transform { shift_out: Some(self.coset_inverse), ..inverse },
        }
    }

    /// Transforms `values` in place from a polynomial's coefficients to its values on the subgroup.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the slice is not `2^log_n` long.
    /// - The error of a forced backend that failed.
    ///
    /// After an error, the slice is unchanged.
    pub fn forward(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::Forward, &mut [values], None)
    }

    /// Transforms `values` in place from values on the subgroup to coefficients.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the slice is not `2^log_n` long.
    /// - The error of a forced backend that failed.
    ///
    /// After an error, the slice is unchanged.
    pub fn inverse(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::Inverse, &mut [values], None)
    }

    /// Transforms `values` in place from a polynomial's coefficients to its values on the coset.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the slice is not `2^log_n` long.
    /// - The error of a forced backend that failed.
    ///
    /// After an error, the slice is unchanged.
    pub fn coset_forward(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::CosetForward, &mut [values], None)
    }

    /// Transforms `values` in place from values on the coset to coefficients.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the slice is not `2^log_n` long.
    /// - The error of a forced backend that failed.
    ///
    /// After an error, the slice is unchanged.
    pub fn coset_inverse(&self, values: &mut [F]) -> Result<Report> {
        self.run(Direction::CosetInverse, &mut [values], None)
    }

    /// Transforms each of `vectors`, in host memory, in place, spread over the accelerator's devices.
    ///
    /// `abort` is polled every few milliseconds ([`Abort`]). With `None`, the call cannot be aborted.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a slice is not `2^log_n` long.
    /// - [`Error::Aborted`]: the hook aborted.
    /// - The error of a forced backend that failed.
    ///
    /// After an error, all slices are unchanged.
    pub fn run(&self, direction: Direction, vectors: &mut [&mut [F]], abort: Abort<'_>) -> Result<Report> {
        transform_many(&self.accelerator, vectors, &vec![self.transform(direction); vectors.len()], abort)
    }

    /// Returns the binary logarithm of the maximum radix of a pass on a device; 0 stands for the default.
    pub(super) fn max_radix_log(&self) -> u32 {
        self.max_radix_log
    }

    /// Returns a copy of the domain, with `accelerator` for vectors in host memory.
    pub(crate) fn with_accelerator(&self, accelerator: &Accelerator) -> Self {
        Self { accelerator: accelerator.clone(), ..self.clone() }
    }

    pub(super) fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }
}

/// Transforms each of `values` in place by the transform at its index in `transforms`, spread over the accelerator's
/// devices. After an error or an abort, every vector is unchanged.
///
/// # Errors
/// - [`Error::Invalid`]: the numbers of vectors and transforms differ.
/// - [`Error::Invalid`]: a transform does not fit its vector ([`Transform::check`]).
/// - [`Error::Aborted`]: the hook aborted.
/// - The error of a forced backend that failed.
pub fn transform_many<F: TransformField>(
    accelerator: &Accelerator,
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    abort: Abort<'_>,
) -> Result<Report> {
    Error::check_eq("ntt", "number of transforms", values.len(), transforms.len())?;
    values.iter().zip(transforms).try_for_each(|(values, transform)| transform.check(values.len()))?;
    execute(accelerator, accelerator.devices(), &mut TransformMany { values, transforms }, abort)
        .map(|((), report)| report)
}

/// Transforms vectors in place, all of them or none.
struct TransformMany<'a, 'v, F> {
    values: &'a mut [&'v mut [F]],
    transforms: &'a [Transform<F>],
}

impl<F: TransformField> Operation for TransformMany<'_, '_, F> {
    type Output = ();

    fn scope(&self) -> OpScope {
        OpScope { operation: format!("ntt {}", F::NAME), elements: self.values.iter().map(|values| values.len()).sum() }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<()> {
        gpu::transform_many(devices, self.values, self.transforms, ctx)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<()> {
        cpu::transform_many(self.values, self.transforms, ctx)
    }
}
