//! Opens polynomials after Gabizon, Williamson and Ciobotaru ("PLONK", 2019, section 3): with a quotient for each
//! point.

use ff::Field;

use super::column_storage::Column;
use super::curve::ProofCurve;
use super::engine::Basis;
use super::opening_stage::{OpeningStage, unique};
use crate::Result;

impl<C: ProofCurve> OpeningStage<'_, C> {
    /// Opens the polynomials by the GWC scheme. For each point, it sums the polynomials that are opened there, weighed
    /// by powers of `v`, and divides the sum by X − point. Returns commitments to the quotients, in the order of the
    /// points' first queries.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn gwc(self, v: C::Scalar) -> Result<Vec<C>> {
        let rotations = unique(self.queries.iter().map(|(query, _)| query.rotation));
        let quotients = rotations.into_iter().map(|rotation| self.quotient_at(rotation, v));
        let quotients = quotients.collect::<Result<Vec<_>>>()?;
        let views: Vec<_> = quotients.iter().map(Column::view).collect();
        self.polynomials.setting.commit(Basis::Monomial, &views)
    }

    fn quotient_at(&self, rotation: usize, v: C::Scalar) -> Result<Column<C::Scalar>> {
        let (polynomials, engine) = (&self.polynomials, self.polynomials.setting.engine);
        let queries = self.queries.iter().filter(|(query, _)| query.rotation == rotation);
        let views = queries.map(|(query, _)| polynomials.polynomial_view(query.polynomial));
        let powers = std::iter::successors(Some(C::Scalar::ONE), |power| Some(*power * v));
        // The division drops the remainder, which is the value.
        let sum = engine.linear_combination(&views.zip(powers).collect::<Vec<_>>())?;
        engine.divide(sum.view(), vec![polynomials.evaluation_point(rotation)])
    }
}
