//! Describes a claim as rounds compute with it.

use super::claim::{Claim, ProductTerm};
use super::eq::EqTables;
use super::field::ComputeField;
use super::round_poly::{Interpolation, Point, points};

/// Describes a claim for the computation of rounds: the polynomial's terms, the points at which it is evaluated, and
/// the weights of rows.
#[derive(Debug)]
pub(super) struct RoundShape<W> {
    pub variables: u32,
    /// Number of columns, including those that are in no term.
    pub columns: usize,
    pub degree: usize,
    pub terms: Vec<ProductTerm<W>>,
    pub points: Vec<Point>,
    pub weights: Option<EqTables<W>>,
    pub interpolation: Interpolation<W>,
}

impl<W: ComputeField> RoundShape<W> {
    pub fn new(claim: &Claim<W>, columns: usize) -> Self {
        let weights = claim.eq().map(EqTables::new);
        Self {
            variables: claim.variables(),
            columns,
            degree: claim.degree(),
            terms: claim.terms().to_vec(),
            points: points(claim.degree(), weights.is_some()),
            weights,
            interpolation: Interpolation::new(claim.degree()),
        }
    }

    /// Returns whether the claim is on the product of all columns: one term of coefficient 1, in which each column
    /// occurs once, without eq.
    pub fn is_product(&self) -> bool {
        let [term] = &self.terms[..] else { return false };
        let mut factors = term.columns.clone();
        factors.sort_unstable();
        self.weights.is_none() && term.coefficient == W::ONE && factors.into_iter().eq(0..self.columns)
    }

    /// Returns whether `term` adds to the value at `point`. At infinity, only terms of the highest degree do.
    pub fn term_contributes(&self, term: &ProductTerm<W>, point: Point) -> bool {
        point != Point::Infinity || term.columns.len() == self.degree
    }
}
