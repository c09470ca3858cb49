//! `GF(2)[x]/(x¹²⁸ + x⁷ + x² + x + 1)`, the field of GHASH (NIST SP 800-38D). Bit i is the coefficient of xⁱ.
//!
//! The method of multiplication is chosen at run time ([`Multiplier`]). It is carry-less multiplication of 64 bits, of
//! one element or several at a time, or portable code without branches.
//!
//! ```
//! use ff::Field;
//! use proofwarp::field::ghash::{Ghash, Multiplier};
//!
//! let x = Ghash(2);
//! assert_eq!(x.pow_vartime([128]), Ghash(0x87));
//!
//! let mut products = [3, 1 << 127];
//! Multiplier::fastest().multiply(&mut products, &[3, 2]);
//! assert_eq!(products, [5, 0x87]);
//! ```

mod instruction_set;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use instruction_set::Multiplier;

use super::binary_field_macros::{binary_field, binary_operator};

/// Holds an element of GHASH's field. Bit i is the coefficient of xⁱ.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Ghash(pub u128);

binary_field!(Ghash);

// SAFETY: the type is declared as transparent, and all numbers are elements.
unsafe impl bytemuck::TransparentWrapper<u128> for Ghash {}

impl Ghash {
    /// Decodes an element from `bytes` in the order of GCM, whose first bit is the coefficient of 1.
    pub fn from_gcm(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes).reverse_bits())
    }

    /// Encodes the element in the order of GCM: the first bit is the coefficient of 1.
    pub fn to_gcm(self) -> [u8; 16] {
        self.0.reverse_bits().to_be_bytes()
    }

    /// Returns the product of this element and x.
    #[must_use]
    pub const fn times_x(self) -> Self {
        Self((self.0 << 1) ^ (0u128.wrapping_sub(self.0 >> 127) & 0x87))
    }

    fn times(self, other: Self) -> Self {
        Self(Multiplier::fastest().product(self.0, other.0))
    }

    /// Returns the inverse, which is the power 2¹²⁸ − 2. It follows from the powers 2^(2^k) − 1 (T. Itoh and S. Tsujii,
    /// 1988).
    fn inverse(self) -> Self {
        let square = |a: Self| a.times(a);
        let squares = |a: Self, count: u32| (0..count).fold(a, |a, _| square(a));
        // `ones` is the power 2^(2^k) − 1, and `power` is 2^(2^k − 1) − 1; so 2¹²⁷ − 1 in the end.
        let (mut ones, mut power) = (self, Self(1));
        for k in 0..7 {
            let length = 1 << k;
            power = squares(power, length).times(ones);
            ones = squares(ones, length).times(ones);
        }
        square(power)
    }
}

#[cfg(test)]
mod tests;
