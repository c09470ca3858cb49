//! Says which bases of a key each rank has, by numbers only.

use crate::cluster::ntt::CyclicLayout;
use crate::cluster::partition::Partition;
use crate::curve::MsmCurve;
use crate::groth16::{Engine, Parameters};
use crate::msm::BasePoints;
use crate::{Error, Result};

/// Holds the parts of a key's queries.
///
/// Bases of h go where the quotient's coefficients are: a rank has those of its classes, except the very last base,
/// which no key has. The other queries are in consecutive parts, in proportion to the ranks' speeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLayout {
    /// Where the coefficients of h are.
    pub h: CyclicLayout,
    /// The parts of l.
    pub l: Partition,
    /// The parts of a.
    pub a: Partition,
    /// The parts of both queries of b.
    pub b: Partition,
}

impl KeyLayout {
    /// Returns the numbers of the bases of `rank` among those of h.
    pub fn of_h(&self, rank: usize) -> Vec<usize> {
        let all = self.h.count() * self.h.class_length();
        (0..self.h.length(rank)).map(|position| self.h.index(rank, position)).filter(|index| *index + 1 < all).collect()
    }

    /// Returns the part of `rank` in the key `whole`, which is in memory or in a mapped file. Of a file, only these
    /// points are decoded. Those of h do not follow each other, so the host decodes them now; devices decode the
    /// others.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the key has other lengths.
    /// - [`Error::Invalid`]: an encoded point is not as expected.
    pub fn part<E: Engine>(&self, rank: usize, whole: &Parameters<E>) -> Result<Parameters<E>> {
        check("bases of h", self.h.count() * self.h.class_length() - 1, whole.h.len())?;
        Ok(Parameters {
            h: whole.h.gather(&self.of_h(rank))?,
            l: some(&whole.l, &self.l, rank)?,
            a: some(&whole.a, &self.a, rank)?,
            b_g1: some(&whole.b_g1, &self.b, rank)?,
            b_g2: some(&whole.b_g2, &self.b, rank)?,
            ..whole.clone()
        })
    }

    /// Checks that `part` has the lengths of `rank`.
    pub(super) fn check<E: Engine>(&self, rank: usize, part: &Parameters<E>) -> Result<()> {
        check("bases of h of the rank", self.of_h(rank).len(), part.h.len())?;
        check("bases of l of the rank", self.l.range(rank).len(), part.l.len())?;
        check("bases of a of the rank", self.a.range(rank).len(), part.a.len())?;
        check("bases of b of the rank", self.b.range(rank).len(), part.b_g1.len())?;
        check("bases of b in G2 of the rank", self.b.range(rank).len(), part.b_g2.len())
    }
}

fn some<C: MsmCurve>(whole: &BasePoints<C>, slices: &Partition, rank: usize) -> Result<BasePoints<C>> {
    check("bases of a query", slices.length(), whole.len())?;
    whole.slice(slices.range(rank))
}

pub(super) fn check(what: &str, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid("cluster groth16", what, expected, actual)) }
}
