//! Sums terms weighed by powers of a challenge. A sum is lowered once for any number of evaluations.

use crate::expression::{Expression, Program, Term};
use crate::field::NttField;

/// Holds a program for Σ weight^(m−1−i)·termᵢ over m terms.
#[derive(Debug)]
pub(super) struct WeightedSum<F> {
    program: Program<F>,
    terms: usize,
}

impl<F: NttField> WeightedSum<F> {
    /// Compiles the sum of `terms` to a program. The terms refer to challenges below `challenges`. The program reads
    /// its columns in groups of at most `columns_at_once` ([`Program::sum`]).
    pub fn new(terms: Vec<Expression<F>>, challenges: usize, columns_at_once: usize) -> Self {
        let count = terms.len();
        let term = |(number, expression)| Term { challenge: challenges + number, expression };
        let terms: Vec<_> = terms.into_iter().enumerate().map(term).collect();
        Self { program: Program::lower_sum(&terms, columns_at_once), terms: count }
    }

    pub fn program(&self) -> &Program<F> {
        &self.program
    }

    /// Returns the values of the program's challenges: `known`, then the terms' weights, powers of `weight` in
    /// descending order.
    pub fn program_challenges(&self, known: &[F], weight: F) -> Vec<F> {
        let powers = std::iter::successors(Some(F::ONE), |power| Some(*power * weight));
        let mut weights: Vec<_> = powers.take(self.terms).collect();
        weights.reverse();
        [known, &weights].concat()
    }

    /// Returns `weight`^m for the m terms. A sum is multiplied by it if another sum of m terms follows.
    pub fn factor_before_next(&self, weight: F) -> F {
        weight.pow_vartime([self.terms as u64])
    }
}
