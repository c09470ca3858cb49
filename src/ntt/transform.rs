//! Defines one transform as a sum.

use std::fmt;

use crate::field::NttField;
use crate::{Error, Result};

/// Selects the order of the elements of a vector of 2^k.
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

/// Selects the twiddles that a device keeps for transforms of a size. Every kind of transform has its own: forward,
/// inverse, and both for each coset. One transform over several devices ([`super::ShardedVector`]) has short ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableSize {
    /// [`Self::Full`] up to 2^20, if that takes at most 1/64 of the device's memory, or of the cap on it: 2^18 from 1
    /// GiB on, 2^20 from 4 GiB on. [`Self::Short`] otherwise.
    #[default]
    Automatic,
    /// All twiddles of the last pass, 64 bytes for each element: 16 MiB for 2^18, 64 MiB for 2^20. A single vector of
    /// up to 2^18 takes its own size of additional memory while it is transformed, and less time.
    Full,
    /// Two tables whose products are the twiddles, at most n/4 elements (or 4 MiB). They cost one more product for each
    /// element, in place on CUDA.
    Short,
}

/// Describes one transform X(j) = scale · `shift_out`^j · Σᵢ x(i) · `shift_in`^i · ω^(ij), for i, j < `2^log_n`.
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
    /// Twiddles that devices keep.
    pub tables: TableSize,
}

impl<F: NttField> Transform<F> {
    /// Creates the plain transform by a root of unity.
    pub fn new(log_n: u32, omega: F) -> Self {
        let (input, order, tables) = (Order::Natural, Order::Natural, TableSize::Automatic);
        Self { log_n, omega, shift_in: None, shift_out: None, scale: None, input, order, tables }
    }

    /// Checks ω, and the `length` of a vector.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `log_n` is above the field's two-adicity.
    /// - [`Error::Invalid`]: ω is no primitive `2^log_n`-th root of unity.
    /// - [`Error::Invalid`]: the vector has another length.
    pub fn check(&self, length: usize) -> Result<()> {
        const ERROR_CONTEXT: &str = "ntt";
        if self.log_n > F::S || self.log_n >= usize::BITS {
            return Err(Error::invalid(
                ERROR_CONTEXT,
                "log_n",
                format!("at most the two-adicity {}", F::S),
                self.log_n,
            ));
        }
        if length != 1 << self.log_n {
            return Err(Error::invalid(ERROR_CONTEXT, "length of the slice", format!("2^{}", self.log_n), length));
        }
        // ω is primitive exactly if its (n/2)-th power is −1 (or ω = 1 for a length of one).
        let half = (1..self.log_n).fold(self.omega, |power, _| power.square());
        let primitive = if self.log_n == 0 { self.omega == F::ONE } else { half == -F::ONE };
        if !primitive {
            return Err(Error::invalid(
                ERROR_CONTEXT,
                "omega",
                format!("a primitive 2^{}-th root of unity", self.log_n),
                "another element",
            ));
        }
        Ok(())
    }
}
