//! Multiplies without carry-less multiplication in hardware, in constant time: by integer products of numbers in which
//! all but every fourth bit are zero (T. Pornin, BearSSL's ghash_ctmul32). Of 32 bits eight are left, so that a column
//! of the product adds up at most eight ones. These fit the four bits of its hole.

/// Mask that selects every fourth bit, from bit 0 on.
const HOLES: u64 = 0x1111_1111_1111_1111;

/// Holds the unreduced product of two polynomials over GF(2): its low and its high 128 bits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UnreducedProduct {
    low: u128,
    high: u128,
}

/// Returns the product of the polynomials `a` and `b` over GF(2).
fn carryless_32(a: u32, b: u32) -> u64 {
    let every_fourth = |word: u32| [0, 1, 2, 3].map(|k| u64::from(word) & (HOLES << k));
    let (a, b) = (every_fourth(a), every_fourth(b));
    let column = |k: usize| (0..4).fold(0, |sum, i| sum ^ a[i].wrapping_mul(b[(4 + k - i) % 4])) & (HOLES << k);
    column(0) | column(1) | column(2) | column(3)
}

/// Returns the product of the polynomials `a` and `b` over GF(2), by three products of 32 bits (Karatsuba).
fn carryless_64(a: u64, b: u64) -> u128 {
    let ([a0, a1], [b0, b1]) = ([a as u32, (a >> 32) as u32], [b as u32, (b >> 32) as u32]);
    let (low, high) = (carryless_32(a0, b0), carryless_32(a1, b1));
    let middle = carryless_32(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    u128::from(low) ^ u128::from(middle) << 32 ^ u128::from(high) << 64
}

impl UnreducedProduct {
    fn product(a: u128, b: u128) -> Self {
        let ([a0, a1], [b0, b1]) = ([a as u64, (a >> 64) as u64], [b as u64, (b >> 64) as u64]);
        let (low, high) = (carryless_64(a0, b0), carryless_64(a1, b1));
        let middle = carryless_64(a0 ^ a1, b0 ^ b1) ^ low ^ high;
        Self { low: low ^ middle << 64, high: high ^ middle >> 64 }
    }

    /// Reduces the product to an element: x¹²⁸ is x⁷ + x² + x + 1. The high half times that exceeds 128 bits by at most
    /// seven bits, which are reduced once more.
    fn reduced(self) -> u128 {
        let times_tail = |a: u128| a ^ a << 1 ^ a << 2 ^ a << 7;
        let Self { low, high } = self;
        low ^ times_tail(high) ^ times_tail(high >> 127 ^ high >> 126 ^ high >> 121)
    }
}

pub(super) fn product(a: u128, b: u128) -> u128 {
    UnreducedProduct::product(a, b).reduced()
}

pub(super) fn sum_of_products(a: &[u128], b: &[u128]) -> u128 {
    let add = |sum: UnreducedProduct, (a, b): (&u128, &u128)| {
        let UnreducedProduct { low, high } = UnreducedProduct::product(*a, *b);
        UnreducedProduct { low: sum.low ^ low, high: sum.high ^ high }
    };
    a.iter().zip(b).fold(UnreducedProduct::default(), add).reduced()
}

pub(super) fn multiply(a: &mut [u128], b: &[u128]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = product(*a, *b));
}

pub(super) fn fold(low: &mut [u128], high: &[u128], factor: u128) {
    low.iter_mut().zip(high).for_each(|(low, high)| *low ^= product(*low ^ high, factor));
}
