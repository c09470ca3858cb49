//! Sums of terms, weighed by powers of a challenge, lowered once for any number of evaluations.

use crate::expression::{Expression, Program, Term};
use crate::field::NttField;

/// Σ weight^(m−1−i)·termᵢ.
#[derive(Debug)]
pub(super) struct Sum<F> {
    program: Program<F>,
    terms: usize,
}

impl<F: NttField> Sum<F> {
    /// The sum of terms that name challenges below a number, in groups of so many columns ([`Program::sum`]).
    pub fn new(terms: Vec<Expression<F>>, challenges: usize, columns_at_once: usize) -> Self {
        let count = terms.len();
        let term = |(number, expression)| Term { challenge: challenges + number, expression };
        let terms: Vec<_> = terms.into_iter().enumerate().map(term).collect();
        Self { program: Program::sum(&terms, columns_at_once), terms: count }
    }

    pub fn program(&self) -> &Program<F> {
        &self.program
    }

    /// What the program takes: known challenges, then the terms' weights.
    pub fn challenges(&self, known: &[F], weight: F) -> Vec<F> {
        let powers = std::iter::successors(Some(F::ONE), |power| Some(*power * weight));
        let mut weights: Vec<_> = powers.take(self.terms).collect();
        weights.reverse();
        [known, &weights].concat()
    }

    /// weight^m, by which a sum grows when another of its kind follows.
    pub fn step(&self, weight: F) -> F {
        weight.pow_vartime([self.terms as u64])
    }
}
