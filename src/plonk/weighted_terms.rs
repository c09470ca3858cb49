//! Sums terms weighed by powers of a challenge. A sum is lowered once for any number of evaluations.

use crate::expression::{Expression, Program, Term};
use crate::field::NttField;

/// Computes Σ weight^(m−1−i)·termᵢ.
#[derive(Debug)]
pub(super) struct WeightedSum<F> {
    program: Program<F>,
    terms: usize,
}

impl<F: NttField> WeightedSum<F> {
    /// Lowers the sum of `terms`, which name challenges below `challenges`, in groups of `columns_at_once` columns
    /// ([`Program::sum`]).
    pub fn new(terms: Vec<Expression<F>>, challenges: usize, columns_at_once: usize) -> Self {
        let count = terms.len();
        let term = |(number, expression)| Term { challenge: challenges + number, expression };
        let terms: Vec<_> = terms.into_iter().enumerate().map(term).collect();
        Self { program: Program::sum(&terms, columns_at_once), terms: count }
    }

    pub fn program(&self) -> &Program<F> {
        &self.program
    }

    /// Returns the program's challenges: those that are `known`, then the terms' weights.
    pub fn challenges(&self, known: &[F], weight: F) -> Vec<F> {
        let powers = std::iter::successors(Some(F::ONE), |power| Some(*power * weight));
        let mut weights: Vec<_> = powers.take(self.terms).collect();
        weights.reverse();
        [known, &weights].concat()
    }

    /// Returns `weight`^m, by which a sum is multiplied when another of its kind follows.
    pub fn factor_before_next(&self, weight: F) -> F {
        weight.pow_vartime([self.terms as u64])
    }
}
