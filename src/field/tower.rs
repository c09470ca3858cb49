//! The tower of binary fields of Fan and Paar ("On efficient inversion in tower fields of characteristic two", 1997),
//! up to 128 bits. T0 is GF(2). T(k+1) is `T(k)[X_k]/(X_k² + X_k·X_(k−1) + 1)`, with 1 for X_(−1).
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
/// Level of the field whose products use tables of logarithms, T3. Its elements have 8 bits.
const BYTES: u32 = 3;
/// Number of elements of T3 that are not zero, 255.
const UNITS: usize = 255;

/// Holds an element of T7, the tower's field of 128 bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Tower(pub u128);

binary_field!(Tower);

// SAFETY: the type is declared as transparent, and all numbers are elements.
unsafe impl bytemuck::TransparentWrapper<u128> for Tower {}

impl Tower {
    /// Returns X_k, which is in T(k+1) but not in T(k). Returns 1 for `k` above 6.
    pub const fn generator(k: u32) -> Self {
        if k < LEVELS { Self(1 << (1u32 << k)) } else { Self(1) }
    }

    /// Returns the smallest k for which the element is in T(k).
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

/// Returns the low and the high half of `a`, an element of T(level) with `level` above 0. They are the constant term
/// and the coefficient of X_(level−1).
const fn halves(level: u32, a: u128) -> (u128, u128) {
    let bits = 1 << (level - 1);
    (a & ((1 << bits) - 1), a >> bits)
}

const fn join(level: u32, low: u128, high: u128) -> u128 {
    low | high << (1 << (level - 1))
}

/// Returns a product in T(level), with `level` above 0, from three products in T(level−1). `low` is that of the low
/// halves, `high` that of the high halves, and `both` that of the sums of both halves.
pub(crate) const fn karatsuba_combine(level: u32, low: u128, high: u128, both: u128) -> u128 {
    join(level, low ^ high, both ^ low ^ high ^ times_generator(level - 1, high))
}

/// Returns `a`·X_(level−1) in T(level), or `a` if `level` is 0. The time is proportional to the level.
const fn times_generator(level: u32, a: u128) -> u128 {
    if level == 0 {
        return a;
    }
    let (low, high) = halves(level, a);
    join(level, high, low ^ times_generator(level - 1, high))
}

/// Returns `a`·`b` in T(level), by three products one level below (Karatsuba). If there are `tables`, products in T3
/// use logarithms.
const fn multiply_with_tables(tables: Option<&Logarithms>, level: u32, a: u128, b: u128) -> u128 {
    match (tables, level) {
        (_, 0) => return a & b,
        (Some(tables), BYTES) => return tables.product(a, b),
        _ => (),
    }
    let ((a0, a1), (b0, b1)) = (halves(level, a), halves(level, b));
    let low = multiply_with_tables(tables, level - 1, a0, b0);
    let high = multiply_with_tables(tables, level - 1, a1, b1);
    let middle = multiply_with_tables(tables, level - 1, a0 ^ a1, b0 ^ b1);
    karatsuba_combine(level, low, high, middle)
}

/// Holds the logarithms of T3's nonzero elements, to a base whose powers are all of these elements.
struct Logarithms {
    logarithm: [u8; 256],
    /// Powers of the base, repeated once, so that sums of two logarithms need no reduction.
    power: [u8; 2 * UNITS],
}

impl Logarithms {
    /// Computes the tables for the smallest base whose powers are all nonzero elements.
    const fn new() -> Self {
        let mut base = 2;
        loop {
            let tables = Self::with_base(base);
            if tables.logarithm[1] == 0 {
                return tables;
            }
            base += 1;
        }
    }

    /// Computes the tables for `base`. If its powers are not all nonzero elements, the logarithm of 1 is overwritten
    /// and not 0.
    const fn with_base(base: u128) -> Self {
        let mut tables = Self { logarithm: [0; 256], power: [0; 2 * UNITS] };
        let (mut power, mut i) = (1, 0);
        while i < UNITS {
            tables.logarithm[power as usize] = i as u8;
            tables.power[i] = power as u8;
            tables.power[i + UNITS] = power as u8;
            power = multiply_with_tables(None, BYTES, power, base);
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

/// Returns `a`·`b` for elements of T(level), with `level` up to [`LEVELS`].
pub fn product(level: u32, a: u128, b: u128) -> u128 {
    multiply_with_tables(Some(&LOGARITHMS), level, a, b)
}

/// Returns 1/`a` in T(level), or 0 if `a` is 0. The inverse is the conjugate of `a` divided by the norm, which is in
/// T(level−1). The conjugate has X_(level−1) + X_(level−2) in place of X_(level−1).
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
