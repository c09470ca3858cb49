//! Holds the polynomials and values that a proof opens, for both opening schemes.

use super::curve::ProofCurve;
use super::polynomials::Polynomials;
use super::queries::OpeningQuery;

/// Holds a proof after the challenge x. Its polynomials remain to be opened.
#[derive(Debug)]
pub struct OpeningStage<'a, C: ProofCurve> {
    pub(super) polynomials: Polynomials<'a, C>,
    /// Queries and their values, in the order in which they are opened.
    pub(super) queries: Vec<(OpeningQuery, C::Scalar)>,
}

/// Returns the different items of `all`, in the order of their first occurrence.
pub(super) fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for one in all {
        if !unique.contains(&one) {
            unique.push(one);
        }
    }
    unique
}
