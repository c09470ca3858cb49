//! Holds the polynomials and values that a proof opens, for both opening schemes.

use ff::Field;

use crate::Result;
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnView};
use crate::plonk::work_sharing::ProverContext;
use super::queries::{OpeningQuery, PolynomialId};

/// Holds a proof after the challenge x. Its polynomials remain to be opened.
#[derive(Debug)]
pub struct OpeningStage<'a, C: ProofCurve> {
    pub(crate) polynomials: Polynomials<'a, C>,
    /// Queries and their values, in the order in which they are opened.
    pub(crate) queries: Vec<(OpeningQuery, C::Scalar)>,
}

/// Returns the different items of `all`, in the order of their first occurrence.
pub(crate) fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for one in all {
        if !unique.contains(&one) {
            unique.push(one);
        }
    }
    unique
}

/// Holds the coefficients of all polynomials that are opened, and the point x.
#[derive(Debug)]
pub(crate) struct Polynomials<'a, C: ProofCurve> {
    pub setting: ProverContext<'a, C>,
    /// Coefficients of the key's columns, which circuits share, in the order of their numbers.
    pub shared: Vec<ColumnView<'a, C::Scalar>>,
    /// Coefficients of each circuit's own columns. Their numbers follow those of `shared`.
    pub own: Vec<Vec<Column<C::Scalar>>>,
    /// Σ x^(n·i)·pieceᵢ, which has the quotient's value at x.
    pub quotient: Column<C::Scalar>,
    pub random: Column<C::Scalar>,
    pub x: C::Scalar,
}

impl<C: ProofCurve> Polynomials<'_, C> {
    pub(crate) fn polynomial_view(&self, polynomial: PolynomialId) -> ColumnView<'_, C::Scalar> {
        match polynomial {
            PolynomialId::Quotient => self.quotient.view(),
            PolynomialId::Random => self.random.view(),
            PolynomialId::Column(circuit, name) => {
                let number = self.setting.circuit.layout.column_number(name);
                match self.shared.get(number) {
                    Some(shared) => *shared,
                    None => self.own[circuit][number - self.shared.len()].view(),
                }
            }
        }
    }

    /// Returns the point x·ω^`rotation`.
    pub(crate) fn evaluation_point(&self, rotation: usize) -> C::Scalar {
        self.x * self.setting.engine.omega().pow_vartime([rotation as u64])
    }

    /// Returns the values of the polynomials of `queries` at their points, in the order of `queries`.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(crate) fn evaluate(&self, queries: &[OpeningQuery]) -> Result<Vec<C::Scalar>> {
        let mut rotations: Vec<_> = queries.iter().map(|query| query.rotation).collect();
        rotations.sort_unstable();
        rotations.dedup();
        let points: Vec<_> = rotations.iter().map(|rotation| self.evaluation_point(*rotation)).collect();
        let number = |query: &OpeningQuery| rotations.partition_point(|rotation| *rotation < query.rotation);
        let queries = queries.iter().map(|query| (self.polynomial_view(query.polynomial), number(query)));
        self.setting.engine.evaluate(&queries.collect::<Vec<_>>(), &points)
    }
}
