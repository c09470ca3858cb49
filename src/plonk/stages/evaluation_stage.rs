//! Evaluates all polynomials at x.

use std::collections::{HashMap, HashSet};

use ff::Field;

use crate::Result;
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::Column;
use crate::plonk::openings::{OpeningStage, Polynomials, ProofQueries};
use crate::plonk::work_sharing::ProverContext;

/// Holds a proof after the challenge y, with the pieces of its quotient.
#[derive(Debug)]
pub struct QuotientStage<'a, C: ProofCurve> {
    pub(crate) setting: ProverContext<'a, C>,
    /// Coefficients of each circuit's own columns, in the order of their numbers.
    pub(crate) own: Vec<Vec<Column<C::Scalar>>>,
    pub(crate) pieces: Vec<Column<C::Scalar>>,
    pub(crate) random: Column<C::Scalar>,
}

impl<'a, C: ProofCurve> QuotientStage<'a, C> {
    /// Evaluates the proof's polynomials at the points `x`·ω^i of their queries. Returns the next stage, and the values
    /// in transcript order.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn evaluate_polynomials(self, x: C::Scalar) -> Result<(OpeningStage<'a, C>, Vec<C::Scalar>)> {
        let Self { setting, own, pieces, random } = self;
        let (shared, quotient) = (setting.key.coefficients(), combine_quotient_pieces(setting, &pieces, x)?);
        let queries = ProofQueries::new(setting.circuit, own.len());
        let (evaluated, opened) = (queries.transcript_queries(), queries.opening_queries());
        let polynomials = Polynomials { setting, shared, own, quotient, random, x };
        let mut seen = HashSet::new();
        let different = evaluated.iter().chain(&opened).copied().filter(|query| seen.insert(*query));
        let different: Vec<_> = different.collect();
        let values = polynomials.evaluate(&different)?;
        let values: HashMap<_, _> = different.into_iter().zip(values).collect();
        let written = evaluated.iter().map(|query| values[query]).collect();
        let queries = opened.into_iter().map(|query| (query, values[&query])).collect();
        Ok((OpeningStage { polynomials, queries }, written))
    }
}

/// Combines the quotient's `pieces` at `x`: returns the coefficients of Σ x^(n·i)·pieceᵢ.
fn combine_quotient_pieces<C: ProofCurve>(
    setting: ProverContext<'_, C>,
    pieces: &[Column<C::Scalar>],
    x: C::Scalar,
) -> Result<Column<C::Scalar>> {
    let step = x.pow_vartime([setting.circuit.rows() as u64]);
    let powers = std::iter::successors(Some(C::Scalar::ONE), |power| Some(*power * step));
    let terms: Vec<_> = pieces.iter().map(Column::view).zip(powers).collect();
    setting.engine.linear_combination(&terms)
}
