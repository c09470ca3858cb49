//! All polynomials of a proof, as openings see them.

use ff::Field;

use super::column::{Column, View};
use super::curve::ProofCurve;
use super::queries::{Opened, Query};
use super::setting::Setting;
use crate::Result;

/// Coefficients of everything that is opened, and the point x.
#[derive(Debug)]
pub(super) struct Polynomials<'a, C: ProofCurve> {
    pub setting: Setting<'a, C>,
    /// Columns that circuits share, by number.
    pub shared: Vec<View<'a, C::Scalar>>,
    /// Each circuit's own columns, by number after those.
    pub own: Vec<Vec<Column<C::Scalar>>>,
    /// The quotient as it is at x.
    pub quotient: Column<C::Scalar>,
    pub random: Column<C::Scalar>,
    pub x: C::Scalar,
}

impl<C: ProofCurve> Polynomials<'_, C> {
    pub fn view(&self, polynomial: Opened) -> View<'_, C::Scalar> {
        match polynomial {
            Opened::Quotient => self.quotient.view(),
            Opened::Random => self.random.view(),
            Opened::Column(circuit, name) => {
                let number = self.setting.circuit.layout.number(name);
                match self.shared.get(number) {
                    Some(shared) => *shared,
                    None => self.own[circuit][number - self.shared.len()].view(),
                }
            }
        }
    }

    /// x·ω^rotation.
    pub fn point(&self, rotation: usize) -> C::Scalar {
        self.x * self.setting.engine.omega().pow_vartime([rotation as u64])
    }

    /// Values of queries, in their order.
    ///
    /// # Errors
    /// A forced backend failed.
    pub fn evaluate(&self, queries: &[Query]) -> Result<Vec<C::Scalar>> {
        let mut rotations: Vec<_> = queries.iter().map(|query| query.rotation).collect();
        rotations.sort_unstable();
        rotations.dedup();
        let points: Vec<_> = rotations.iter().map(|rotation| self.point(*rotation)).collect();
        let number = |query: &Query| rotations.partition_point(|rotation| *rotation < query.rotation);
        let queries = queries.iter().map(|query| (self.view(query.polynomial), number(query)));
        self.setting.engine.evaluate(&queries.collect::<Vec<_>>(), &points)
    }
}
