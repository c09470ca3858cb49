//! Number-theoretic transforms over the fields of [`crate::field`].

mod cpu;
mod domain;
mod extended;
mod gpu;
mod lanes;
mod limbs;
mod passes;
mod peer_passes;
mod peers;
mod pinned;
mod plan;
mod streamed;
mod tables;
mod vectors;

pub use domain::{Direction, NttDomain, Options};
pub use extended::ExtendedDomain;
pub use passes::Layout;
pub use peers::PeerVector;

use std::fmt;

use crate::backend::{Abort, guarded};
use crate::field::NttField;
use crate::report::Call;
use crate::{Accelerator, Error, Report, Result};

/// Order of the elements of a vector of 2^k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Index i at position i.
    #[default]
    Natural,
    /// Index i at the position whose k bits are those of i reversed.
    BitReversed,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Natural => "natural",
            Self::BitReversed => "bit-reversed",
        })
    }
}

/// Which factors of a size's transforms a device keeps. Every kind of transform has its own: forward, inverse, and both
/// for each coset. One transform over several devices ([`PeerVector`]) has short ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableSize {
    /// [`Self::Full`] up to 2^20, where that is no more than a 64th of the device's memory, or of the cap on it:
    /// 2^18 from 1 GiB on, 2^20 from 4 GiB on. [`Self::Short`] otherwise.
    #[default]
    Automatic,
    /// All factors of the last pass, 64 bytes for each element: 16 MiB for 2^18, 64 MiB for 2^20. A single vector of up
    /// to 2^18 takes its own size in memory besides while it is transformed, and less time.
    Full,
    /// Two tables whose products are the factors, at most n/4 elements (or 4 MiB); one product more for each element, in
    /// place on CUDA.
    Short,
}

/// One transform X(j) = scale · `shift_out`^j · Σᵢ x(i) · `shift_in`^i · ω^(ij), for i, j < `2^log_n`.
///
/// Forward, inverse and coset transforms are all instances of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transform<F> {
    /// Binary logarithm of the length.
    pub log_n: u32,
    /// A primitive `2^log_n`-th root of unity.
    pub omega: F,
    /// Multiplies input i by its i-th power.
    pub shift_in: Option<F>,
    /// Multiplies output j by its j-th power.
    pub shift_out: Option<F>,
    /// Multiplies every output.
    pub scale: Option<F>,
    /// Order of the input. Bit-reversed input costs a device one more pass over it, half of the elements changing
    /// places with the other half.
    pub input: Order,
    /// Order of the output.
    pub order: Order,
    /// Which factors devices keep.
    pub tables: TableSize,
}

impl<F: NttField> Transform<F> {
    /// The plain transform by a root of unity.
    pub fn new(log_n: u32, omega: F) -> Self {
        let (input, order, tables) = (Order::Natural, Order::Natural, TableSize::Automatic);
        Self { log_n, omega, shift_in: None, shift_out: None, scale: None, input, order, tables }
    }

    fn check(&self, length: usize) -> Result<()> {
        const PLACE: &str = "ntt";
        if self.log_n > F::S || self.log_n >= usize::BITS {
            return Err(Error::invalid(PLACE, "log_n", format!("at most the two-adicity {}", F::S), self.log_n));
        }
        if length != 1 << self.log_n {
            return Err(Error::invalid(PLACE, "length of the slice", format!("2^{}", self.log_n), length));
        }
        // ω is primitive exactly if its half-th power is −1 (or ω = 1 for a length of one).
        let half = (1..self.log_n).fold(self.omega, |power, _| power.square());
        let primitive = if self.log_n == 0 { self.omega == F::ONE } else { half == -F::ONE };
        if !primitive {
            return Err(Error::invalid(
                PLACE,
                "omega",
                format!("a primitive 2^{}-th root of unity", self.log_n),
                "another element",
            ));
        }
        Ok(())
    }
}

/// Transforms several vectors in place, all or none of them: after an error or an abort every vector
/// is as it was. Vectors are spread over the accelerator's devices.
///
/// # Errors
/// Numbers of vectors and transforms differ, a transform does not fit its vector, the hook aborted, or
/// a forced backend failed.
pub fn transform_many<F: NttField>(
    accelerator: &Accelerator,
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    abort: Abort<'_>,
) -> Result<Report> {
    if values.len() != transforms.len() {
        return Err(Error::invalid("ntt", "number of transforms", values.len(), transforms.len()));
    }
    values.iter().zip(transforms).try_for_each(|(values, transform)| transform.check(values.len()))?;
    let call = Call { operation: format!("ntt {}", F::NAME), elements: values.iter().map(|v| v.len()).sum() };
    // Both closures want the vectors; only one runs at a time.
    let values = std::cell::RefCell::new(values);
    guarded(abort, |abort| {
        let ((), report) = accelerator.run(
            call,
            |devices| {
                gpu::transform_many(devices, &mut values.borrow_mut(), transforms, abort).map(|traffic| ((), traffic))
            },
            || cpu::transform_many(&mut values.borrow_mut(), transforms, abort),
        )?;
        Ok(report)
    })
}
