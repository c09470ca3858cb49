//! Polynomials and values that a proof opens, whatever opens them.

use super::curve::ProofCurve;
use super::polynomials::Polynomials;
use super::queries::Query;

/// A proof after x: what is left is to open its polynomials.
#[derive(Debug)]
pub struct Openings<'a, C: ProofCurve> {
    pub(super) polynomials: Polynomials<'a, C>,
    /// With values, in the order of the openings.
    pub(super) queries: Vec<(Query, C::Scalar)>,
}

/// Those of a list that differ, in the order in which they come first.
pub(super) fn different<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut different = Vec::new();
    for one in all {
        if !different.contains(&one) {
            different.push(one);
        }
    }
    different
}
