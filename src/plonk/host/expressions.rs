//! Expressions, row by row.

use rayon::prelude::*;

use super::PIECE;
use crate::expression::{Expression, Query};
use crate::field::NttField;

/// The points shift·ω^row of `count` rows.
#[derive(Debug, Clone, Copy)]
pub struct Points<F> {
    pub shift: F,
    pub omega: F,
    pub count: usize,
}

/// Σ weight^(m−1−i)·termᵢ in every row; a rotation goes around the end.
pub fn weighted_sum<F: NttField>(
    terms: &[Expression<F>],
    weight: F,
    columns: &[&[F]],
    challenges: &[F],
    points: Points<F>,
) -> Vec<F> {
    let mut sums = vec![F::ZERO; points.count];
    sums.par_chunks_mut(PIECE).enumerate().for_each(|(piece, sums)| {
        let first = piece * PIECE;
        let mut x = points.shift * points.omega.pow_vartime([first as u64]);
        for (row, sum) in (first..).zip(sums) {
            let column = |query: Query| columns[query.column][rotated(row, query.rotation, points.count)];
            let add = |sum: F, term: &Expression<F>| sum * weight + term.evaluate(&column, challenges, x);
            *sum = terms.iter().fold(F::ZERO, add);
            x *= points.omega;
        }
    });
    sums
}

/// The row that a rotation leads to, of a power of two of them.
fn rotated(row: usize, rotation: i32, count: usize) -> usize {
    row.wrapping_add_signed(rotation as isize) & (count - 1)
}
