//! Computes multi-scalar multiplications on the CPU for curves whose crate has no such function (N. Pippenger, 1976).

use group::Group;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use super::scalar_bytes::MIN_PIECE;

/// Maximum bits of a window, 16: its 2^15 buckets stay in the cache of a core.
const MAX_WINDOW: u32 = 16;
/// Number of bits of a scalar, 256: it may be larger than the group's order.
const SCALAR_BITS: u32 = 256;

/// Returns Σ scalarᵢ · pointᵢ for as many `scalars`, little-endian numbers, as `points`. Threads share windows, and
/// pieces of the points if there are fewer windows than threads.
pub(super) fn pippenger<C: PrimeCurveAffine>(points: &[C], scalars: &[[u8; 32]]) -> C::Curve {
    let width = window_width(points.len());
    // The digit of the last window takes up the carry of the highest bit.
    let windows = SCALAR_BITS / width + 1;
    let pieces = rayon::current_num_threads().div_ceil(windows as usize);
    let piece = points.len().div_ceil(pieces).max(MIN_PIECE);
    let window_sum = |window: u32| -> C::Curve {
        let pieces = points.par_chunks(piece).zip(scalars.par_chunks(piece));
        pieces.map(|(points, scalars)| piece_sum(points, scalars, window, width)).sum()
    };
    let sums: Vec<C::Curve> = (0..windows).into_par_iter().map(window_sum).collect();
    sums.iter().rev().fold(C::Curve::identity(), |sum, window| (0..width).fold(sum, |sum, _| sum.double()) + window)
}

/// Returns the window width with the fewest additions for `count` points. A bucket costs two additions of projective
/// points, each 1.5 times as long as the addition of an affine one.
fn window_width(count: usize) -> u32 {
    let cost = |width: u32| (SCALAR_BITS / width + 1) as usize * (count + (3 << (width - 1)));
    (1..=MAX_WINDOW).min_by_key(|width| cost(*width)).unwrap_or(1)
}

/// Returns Σ digitᵢ · pointᵢ for the digits of the `scalars` in a window.
fn piece_sum<C: PrimeCurveAffine>(points: &[C], scalars: &[[u8; 32]], window: u32, width: u32) -> C::Curve {
    let mut buckets = vec![C::Curve::identity(); 1 << (width - 1)];
    for (point, scalar) in points.iter().zip(scalars) {
        let digit = booth_digit(scalar, window, width);
        match digit.unsigned_abs() as usize {
            0 => {}
            bucket if digit > 0 => buckets[bucket - 1] += point,
            bucket => buckets[bucket - 1] -= point,
        }
    }
    let (mut running, mut sum) = (C::Curve::identity(), C::Curve::identity());
    for bucket in buckets.iter().rev() {
        running += bucket;
        sum += running;
    }
    sum
}

/// Returns the signed digit of `scalar` in a window, from −2^(width − 1) to 2^(width − 1). It is the window's bits,
/// less 2^width if the highest is set, plus the bit below them (A. Booth, 1951). Each digit thus follows from its own
/// bits.
fn booth_digit(scalar: &[u8; 32], window: u32, width: u32) -> i32 {
    let low = window * width;
    let bits = if low == 0 { bits_from(scalar, 0) << 1 } else { bits_from(scalar, low - 1) };
    let bits = bits & ((2 << width) - 1);
    bits.div_ceil(2).cast_signed() - (bits >> width << width).cast_signed()
}

/// Returns bits `start` to `start` + 24 of `scalar`, or more. Bits above its highest are zero.
fn bits_from(scalar: &[u8; 32], start: u32) -> u32 {
    let byte = |i: usize| scalar.get(start as usize / 8 + i).copied().unwrap_or(0);
    u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]) >> (start % 8)
}

#[cfg(test)]
mod tests {
    use ff::{Field, PrimeField};
    use halo2curves::bn256::{Fr, G1, G1Affine};

    use super::*;

    /// Checks the sum over `count` points against sums of single products.
    fn check(count: usize) {
        let scalar = |i: usize| Fr::from(7).pow_vartime([3 * i as u64]) * [Fr::ONE, -Fr::ONE][i % 2];
        let scalars: Vec<Fr> = (0..count).map(scalar).collect();
        let points: Vec<G1Affine> = (0..count).map(|i| (G1::generator() * Fr::from(i as u64 / 2)).into()).collect();
        let bytes: Vec<[u8; 32]> = scalars.iter().map(|scalar| scalar.to_repr().into()).collect();
        let expected: G1 = points.iter().zip(&scalars).map(|(point, scalar)| point * scalar).sum();
        assert_eq!(pippenger(&points, &bytes), expected, "{count} points");
    }

    #[test]
    fn sums_of_every_length() {
        [0, 1, 2, 3, 31, 32, 33, 500, 2049].into_iter().for_each(check);
    }

    #[test]
    fn all_bits_of_a_scalar_count() {
        let largest = [0xff; 32];
        let expected = Fr::from(2).pow_vartime([256]) - Fr::ONE;
        assert_eq!(pippenger(&[G1Affine::generator()], &[largest]), G1::generator() * expected);
    }

    #[test]
    fn digits_add_up() {
        let scalar: [u8; 32] = std::array::from_fn(|i| (i * 89 + 200) as u8);
        for scalar in [scalar, [0; 32], [0xff; 32], [0x80; 32]] {
            let words = scalar.as_chunks::<8>().0.iter().rev();
            let expected = words
                .fold(Fr::ZERO, |sum, word| sum * Fr::from(1 << 32).square() + Fr::from(u64::from_le_bytes(*word)));
            for width in 1..=MAX_WINDOW {
                let digits = (0..=SCALAR_BITS / width).map(|window| booth_digit(&scalar, window, width));
                let sum = digits.rev().fold(Fr::ZERO, |sum, digit| {
                    assert!(digit.unsigned_abs() <= 1 << (width - 1), "{digit}");
                    let digit =
                        if digit < 0 { -Fr::from(u64::from(digit.unsigned_abs())) } else { Fr::from(digit as u64) };
                    sum * Fr::from(1 << width) + digit
                });
                assert_eq!(sum, expected, "{width} bits of {scalar:?}");
            }
        }
    }
}
