//! Says which bases of a key each rank has, by numbers only.

use crate::cluster::ntt::CyclicLayout;
use crate::cluster::partition::Partition;
use crate::curve::MsmCurve;
use crate::groth16::{Engine, Parameters};
use crate::msm::BasePoints;
use crate::{Error, Result};

/// Describes which bases of a key's queries each rank has.
///
/// A rank has the bases of h for the coefficients of h that it computes. No key has a base for the last coefficient.
/// Each other query is divided into consecutive ranges, in proportion to the ranks' speeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLayout {
    /// Distribution of the coefficients of h over the ranks.
    pub h: CyclicLayout,
    /// Range of bases of each rank in the query of l.
    pub l: Partition,
    /// Range of bases of each rank in the query of A.
    pub a: Partition,
    /// Range of bases of each rank in both queries of B.
    pub b: Partition,
}

impl KeyLayout {
    /// Returns the indices in the query of h of the bases of `rank`, in the order of its coefficients.
    pub fn h_indices(&self, rank: usize) -> Vec<usize> {
        let all = self.h.class_count() * self.h.class_length();
        (0..self.h.length(rank)).map(|position| self.h.index(rank, position)).filter(|index| *index + 1 < all).collect()
    }

    /// Returns the part of the key `whole` that `rank` needs. If `whole` is in a mapped file, only the points of this
    /// part are decoded. The host decodes those of h now, because they are not contiguous. Devices decode the others
    /// later.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the key has other lengths.
    /// - [`Error::Invalid`]: an encoded point is not as expected.
    pub fn part<E: Engine>(&self, rank: usize, whole: &Parameters<E>) -> Result<Parameters<E>> {
        check_equal("bases of h", self.h.class_count() * self.h.class_length() - 1, whole.h.len())?;
        Ok(Parameters {
            h: whole.h.gather(&self.h_indices(rank))?,
            l: slice_query(&whole.l, &self.l, rank)?,
            a: slice_query(&whole.a, &self.a, rank)?,
            b_g1: slice_query(&whole.b_g1, &self.b, rank)?,
            b_g2: slice_query(&whole.b_g2, &self.b, rank)?,
            ..whole.clone()
        })
    }

    /// Checks that the queries of `part` have the lengths that `rank` needs.
    pub(super) fn check<E: Engine>(&self, rank: usize, part: &Parameters<E>) -> Result<()> {
        check_equal("bases of h of the rank", self.h_indices(rank).len(), part.h.len())?;
        check_equal("bases of l of the rank", self.l.range(rank).len(), part.l.len())?;
        check_equal("bases of a of the rank", self.a.range(rank).len(), part.a.len())?;
        check_equal("bases of b of the rank", self.b.range(rank).len(), part.b_g1.len())?;
        check_equal("bases of b in G2 of the rank", self.b.range(rank).len(), part.b_g2.len())
    }
}

fn slice_query<C: MsmCurve>(whole: &BasePoints<C>, slices: &Partition, rank: usize) -> Result<BasePoints<C>> {
    check_equal("bases of a query", slices.length(), whole.len())?;
    whole.slice(slices.range(rank))
}

pub(super) fn check_equal(what: &str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid("cluster groth16", what, expected, actual)) }
}
