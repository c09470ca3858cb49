//! Commits to the random polynomial, then, after y, divides the sum of all constraints by X^n − 1.

use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::Column;
use crate::plonk::engine::{Basis, Constraints};
use crate::{Error, Result};
use super::evaluation_stage::QuotientStage;
use super::product_stage::ProductStage;

/// Holds a proof after the commitment to its random polynomial.
#[derive(Debug)]
pub struct BlindedStage<'a, C: ProofCurve> {
    products: ProductStage<'a, C>,
    random: Column<C::Scalar>,
}

impl<'a, C: ProofCurve> ProductStage<'a, C> {
    /// Commits to the polynomial with n random `coefficients`, which blinds the openings of the quotient. Returns the
    /// next stage and the commitment.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not n coefficients.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_random_polynomial(self, coefficients: Vec<C::Scalar>) -> Result<(BlindedStage<'a, C>, C)> {
        let engine = self.permuted.start.setting.engine;
        let random = engine.upload(vec![coefficients])?;
        let random = random.into_iter().next().ok_or_else(|| Error::internal("plonk"))?;
        let points = engine.commit(Basis::Monomial, &[random.view()])?;
        let point = points.into_iter().next().ok_or_else(|| Error::internal("plonk"))?;
        Ok((BlindedStage { products: self, random }, point))
    }
}

impl<'a, C: ProofCurve> BlindedStage<'a, C> {
    /// Divides the sum of all constraints, weighed by powers of `y`, by X^n − 1. Returns the next stage, and the
    /// commitments to the quotient's pieces of n coefficients, lowest first.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the quotient needs more than the field's roots of unity.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn commit_quotient(self, y: C::Scalar) -> Result<(QuotientStage<'a, C>, Vec<C>)> {
        let Self { products, random } = self;
        let (setting, challenges) = (products.permuted.start.setting, products.all_challenges());
        let (engine, own) = (setting.engine, products.into_coefficients()?);
        let pieces = setting.circuit.quotient_piece_count();
        let cosets = engine.create_cosets(pieces)?;
        let sum = &setting.circuit.quotient;
        let (challenges, shared) = (sum.program_challenges(&challenges, y), setting.key.coefficients());
        let constraints = Constraints {
            sum,
            challenges: &challenges,
            step: sum.factor_before_next(y),
            shared: &shared,
            own: &own,
            pieces,
        };
        let parts = setting.evaluate_on_cosets(&cosets, &constraints)?;
        let pieces =
            engine.interpolate_quotient_pieces(&cosets, &parts.iter().map(Column::view).collect::<Vec<_>>())?;
        let points = setting.commit(Basis::Monomial, &pieces.iter().map(Column::view).collect::<Vec<_>>())?;
        Ok((QuotientStage { setting, own, pieces, random }, points))
    }
}

impl<C: ProofCurve> ProductStage<'_, C> {
    /// Returns the values of the circuit's own challenges, then θ, β and γ.
    fn all_challenges(&self) -> Vec<C::Scalar> {
        [&self.permuted.start.challenges[..], &[self.permuted.theta, self.beta, self.gamma]].concat()
    }

    /// Returns the coefficients of each circuit's own columns, in the order of their numbers. The values are dropped.
    fn into_coefficients(self) -> Result<Vec<Vec<Column<C::Scalar>>>> {
        let engine = self.permuted.start.setting.engine;
        let circuits = self.permuted.start.circuits.into_iter().zip(self.permuted.lookups).zip(self.running);
        let interpolated = circuits.map(|((witness, lookups), products)| {
            let (inputs, tables): (Vec<_>, Vec<_>) =
                lookups.into_iter().map(|columns| <(_, _)>::from(columns.permuted)).unzip();
            let all = [witness.advice, witness.instance, products.sets, products.lookups, inputs, tables];
            engine.interpolate_owned(all.into_iter().flatten().collect())
        });
        interpolated.collect()
    }
}
