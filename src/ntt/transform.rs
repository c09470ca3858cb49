//! Defines one transform as a sum.

use std::fmt;

use crate::field::TransformField;
use crate::{Error, Result};

/// Selects the order of the 2^k elements of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Element i is at position i.
    #[default]
    Natural,
    /// Element i is at the position whose k bits are those of i reversed.
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

/// Selects the size of the twiddle tables that a device keeps for transforms of one length. Forward and inverse
/// transforms have tables of their own, and so have both on each coset. A transform over several devices
/// ([`super::ShardedVector`]) always has [`Self::Short`] tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TableSize {
    /// [`Self::Full`] for up to 2^20 elements, if that takes at most 1/64 of the device's memory or of the cap on it.
    /// So 2^18 elements need 1 GiB of memory, and 2^20 elements need 4 GiB. [`Self::Short`] otherwise.
    #[default]
    Automatic,
    /// One table of all twiddles of the last pass, 64 bytes per element: 16 MiB for 2^18, 64 MiB for 2^20. A single
    /// vector of up to 2^18 elements then takes less time, and additional memory of its own size while it is
    /// transformed.
    Full,
    /// Two tables whose products are the twiddles. They take at most the memory of n/4 elements, or 4 MiB if that is
    /// more. They cost one more multiplication per element. On CUDA the transform runs in place.
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
    /// Element whose i-th power multiplies input i; `None` for 1.
    pub shift_in: Option<F>,
    /// Element whose j-th power multiplies output j; `None` for 1.
    pub shift_out: Option<F>,
    /// Element that multiplies every output; `None` for 1.
    pub scale: Option<F>,
    /// Order of the input. Bit-reversed input costs a device one more pass over memory, which swaps pairs of elements.
    pub input: Order,
    /// Order of the output.
    pub order: Order,
    /// Size of the twiddle tables that devices keep between calls.
    pub tables: TableSize,
}

impl<F: TransformField> Transform<F> {
    /// Creates the transform of `2^log_n` elements with the root of unity `omega`, in natural order, without shifts or
    /// a scale.
    pub fn new(log_n: u32, omega: F) -> Self {
        let (input, order, tables) = (Order::Natural, Order::Natural, TableSize::Automatic);
        Self { log_n, omega, shift_in: None, shift_out: None, scale: None, input, order, tables }
    }

    /// Checks that `omega` is a primitive `2^log_n`-th root of unity, and that a vector of `length` elements fits the
    /// transform.
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
