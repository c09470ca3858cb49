//! Commits to the random polynomial, then, after y, divides the sum of all constraints by X^n − 1.

mod cosets;
pub(super) mod pieces;

use super::circuit::ProofCurve;
use super::columns_layout_and_key::Column;
use super::engine::{Basis, exactly_one};
use super::products::ProductStage;
use super::proof_state::ProofState;
use crate::Result;
use cosets::Constraints;

/// Holds a proof after the commitment to its random polynomial.
#[derive(Debug)]
pub struct BlindedStage<'a, C: ProofCurve> {
    state: ProofState<'a, C>,
    random: Column<C::Scalar>,
}

/// Holds a proof after the challenge y, with the pieces of its quotient.
#[derive(Debug)]
pub struct QuotientStage<'a, C: ProofCurve> {
    pub(super) state: ProofState<'a, C>,
    pub(super) pieces: Vec<Column<C::Scalar>>,
    pub(super) random: Column<C::Scalar>,
}

impl<'a, C: ProofCurve> ProductStage<'a, C> {
    /// Commits to the polynomial with n random `coefficients`, which blinds the openings of the quotient. Returns the
    /// next stage and the commitment.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): there are not n coefficients.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_random_polynomial(self, coefficients: Vec<C::Scalar>) -> Result<(BlindedStage<'a, C>, C)> {
        let engine = self.state.context.engine;
        let random = exactly_one(engine.upload(vec![coefficients])?)?;
        let point = exactly_one(engine.commit(Basis::Monomial, &[random.view()])?)?;
        Ok((BlindedStage { state: self.state, random }, point))
    }
}

impl<'a, C: ProofCurve> BlindedStage<'a, C> {
    /// Divides the sum of all constraints, weighed by powers of `y`, by X^n − 1. Returns the next stage, and the
    /// commitments to the quotient's pieces of n coefficients, lowest first.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): the quotient needs more than the field's roots of unity.
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_quotient(self, y: C::Scalar) -> Result<(QuotientStage<'a, C>, Vec<C>)> {
        let Self { mut state, random } = self;
        let (context, engine) = (state.context, state.context.engine);
        for columns in &mut state.columns {
            *columns = engine.interpolate_owned(std::mem::take(columns))?;
        }
        let (sum, pieces) = (&context.circuit.quotient, context.circuit.quotient_piece_count());
        let cosets = engine.create_cosets(pieces)?;
        let constraints = Constraints {
            sum,
            challenges: &sum.program_challenges(&state.challenges, y),
            step: sum.factor_before_next(y),
            shared: &context.key.coefficients(),
            own: &state.columns,
            pieces,
        };
        let parts = context.evaluate_on_cosets(&cosets, &constraints)?;
        let pieces =
            engine.interpolate_quotient_pieces(&cosets, &parts.iter().map(Column::view).collect::<Vec<_>>())?;
        let points = context.commit(Basis::Monomial, &pieces.iter().map(Column::view).collect::<Vec<_>>())?;
        Ok((QuotientStage { state, pieces, random }, points))
    }
}
