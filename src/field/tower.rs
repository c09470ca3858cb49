//! The tower of binary fields of Fan and Paar ("On efficient inversion in tower fields of characteristic two", 1997),
//! up to 128 bits: T0 is GF(2), and T(k+1) is `T(k)[X_k]/(X_k² + X_k·X_(k−1) + 1)`, with 1 for X_(−1).
//!
//! An element of T(k) has 2^k bits. The low half is the constant term, the high half the coefficient of X_(k−1). An
//! element of a smaller field is therefore the same number in a larger one.
//!
//! ```
//! use ff::Field;
//! use proofwarp::field::tower::{self, Tower};
//!
//! let x = Tower::generator(6);
//! assert_eq!(x.square(), x * Tower::generator(5) + Tower::ONE);
//! assert_eq!(tower::product(3, 0x1b, 0xa8), 0x09);
//! ```

use super::binary_field_macros::{binary_field, binary_operator};

/// Level of the largest field, T7, whose elements have 2^7 bits.
pub const LEVELS: u32 = 7;
/// Level of the field whose elements have logarithms in tables.
const BYTES: u32 = 3;
/// Number of elements of that field that are not zero.
const UNITS: usize = 255;

/// Holds an element of T7.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Tower(pub u128);

binary_field!(Tower);

// SAFETY: the type is declared as transparent, and all numbers are elements.
unsafe impl bytemuck::TransparentWrapper<u128> for Tower {}

impl Tower {
    /// Returns X_k, which is in T(k+1) but not in T(k); 1 for k above 6.
    pub const fn generator(k: u32) -> Self {
        if k < LEVELS { Self(1 << (1u32 << k)) } else { Self(1) }
    }

    /// Returns the smallest k for which it is an element of T(k).
    pub const fn level(self) -> u32 {
        let mut level = LEVELS;
        while level > 0 && self.0 >> (1 << (level - 1)) == 0 {
            level -= 1;
        }
        level
    }

    fn times(self, other: Self) -> Self {
        Self(product(LEVELS, self.0, other.0))
    }

    fn inverse(self) -> Self {
        Self(inverse(LEVELS, self.0))
    }
}

/// Returns the halves of an element of T(level), level > 0: the constant term, and the other.
const fn halves(level: u32, a: u128) -> (u128, u128) {
    let bits = 1 << (level - 1);
    (a & ((1 << bits) - 1), a >> bits)
}

const fn join(level: u32, low: u128, high: u128) -> u128 {
    low | high << (1 << (level - 1))
}

/// Returns a product in T(level), level > 0, from those of the low halves, of the high halves, and of the halves' sums.
pub(crate) const fn karatsuba_combine(level: u32, low: u128, high: u128, both: u128) -> u128 {
    join(level, low ^ high, both ^ low ^ high ^ times_generator(level - 1, high))
}

/// Returns a·X_(level−1) in T(level), and a in T0. The time is proportional to the level.
const fn times_generator(level: u32, a: u128) -> u128 {
    if level == 0 {
        return a;
    }
    let (low, high) = halves(level, a);
    join(level, high, low ^ times_generator(level - 1, high))
}

/// Multiplies by three products in the field below (Karatsuba), or by logarithms in T3, if there are tables.
const fn product_by(tables: Option<&Logarithms>, level: u32, a: u128, b: u128) -> u128 {
    match (tables, level) {
        (_, 0) => return a & b,
        (Some(tables), BYTES) => return tables.product(a, b),
        _ => (),
    }
    let ((a0, a1), (b0, b1)) = (halves(level, a), halves(level, b));
    let low = product_by(tables, level - 1, a0, b0);
    let high = product_by(tables, level - 1, a1, b1);
    let middle = product_by(tables, level - 1, a0 ^ a1, b0 ^ b1);
    karatsuba_combine(level, low, high, middle)
}

/// Holds logarithms of T3's elements to a base whose powers are all elements but zero.
struct Logarithms {
    logarithm: [u8; 256],
    /// Powers, twice over, so that sums of two logarithms need no reduction.
    power: [u8; 2 * UNITS],
}

impl Logarithms {
    /// Computes the logarithms to the smallest base.
    const fn new() -> Self {
        let mut base = 2;
        loop {
            let tables = Self::to_base(base);
            if tables.logarithm[1] == 0 {
                return tables;
            }
            base += 1;
        }
    }

    /// Computes the tables of `base`. If it has fewer powers, the logarithm of 1 is overwritten and not 0.
    const fn to_base(base: u128) -> Self {
        let mut tables = Self { logarithm: [0; 256], power: [0; 2 * UNITS] };
        let (mut power, mut i) = (1, 0);
        while i < UNITS {
            tables.logarithm[power as usize] = i as u8;
            tables.power[i] = power as u8;
            tables.power[i + UNITS] = power as u8;
            power = product_by(None, BYTES, power, base);
            i += 1;
        }
        tables
    }

    const fn product(&self, a: u128, b: u128) -> u128 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power[self.logarithm[a as usize] as usize + self.logarithm[b as usize] as usize] as u128
    }
}

static LOGARITHMS: Logarithms = Logarithms::new();

/// Returns a·b for elements of T(level), with `level` up to [`LEVELS`].
pub fn product(level: u32, a: u128, b: u128) -> u128 {
    product_by(Some(&LOGARITHMS), level, a, b)
}

/// Returns 1/a in T(level), and zero for zero: the conjugate, a with X + X_(k−1) for X, divided by the norm, which is
/// in the field below.
pub fn inverse(level: u32, a: u128) -> u128 {
    if level == 0 {
        return a;
    }
    let (low, high) = halves(level, a);
    let conjugate = low ^ times_generator(level - 1, high);
    let norm = product(level - 1, low, conjugate) ^ product(level - 1, high, high);
    let by_norm = inverse(level - 1, norm);
    join(level, product(level - 1, conjugate, by_norm), product(level - 1, high, by_norm))
}
