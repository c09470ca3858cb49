//! Inputs that every rank makes for itself, with sums in closed form.

use std::ops::Range;

use blstrs::Scalar;
use ff::Field;
use group::{Curve, Group, prime::PrimeCurveAffine};
use rayon::prelude::*;

/// Elements that a core makes one after another.
const PIECE: usize = 1 << 12;

/// Returns (i + 1)·g for the numbers i of `range`.
pub fn multiples<C: PrimeCurveAffine<Scalar = Scalar>>(range: Range<usize>) -> Vec<C> {
    let g = C::Curve::generator();
    pieces(&range)
        .flat_map_iter(|piece| {
            let first = g * Scalar::from(piece.start as u64 + 1);
            let sums: Vec<_> = std::iter::successors(Some(first), |sum| Some(*sum + g)).take(piece.len()).collect();
            let mut points = vec![C::identity(); piece.len()];
            C::Curve::batch_normalize(&sums, &mut points);
            points
        })
        .collect()
}

/// Returns xⁱ for the numbers i of `range`.
pub fn powers(x: Scalar, range: Range<usize>) -> Vec<Scalar> {
    let piece = |piece: Range<usize>| {
        let first = x.pow_vartime([piece.start as u64]);
        std::iter::successors(Some(first), move |power| Some(*power * x)).take(piece.len())
    };
    pieces(&range).flat_map_iter(piece).collect()
}

/// Returns Σ (i + 1)·xⁱ for i < n: (1 − (n + 1)·xⁿ + n·xⁿ⁺¹)/(1 − x)².
pub fn weighted_sum(x: Scalar, n: u64) -> Scalar {
    let (count, power) = (Scalar::from(n), x.pow_vartime([n]));
    let numerator = Scalar::ONE - (count + Scalar::ONE) * power + count * power * x;
    numerator * (Scalar::ONE - x).square().invert().unwrap_or(Scalar::ZERO)
}

fn pieces(range: &Range<usize>) -> impl ParallelIterator<Item = Range<usize>> + use<> {
    let Range { start, end } = *range;
    (start..end).into_par_iter().step_by(PIECE).map(move |first| first..(first + PIECE).min(end))
}
