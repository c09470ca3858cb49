//! Collects the MSM results of a batch, and assembles proofs from them on the host.

use std::sync::{Mutex, PoisonError};

use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rayon::prelude::*;

use super::schedule::{ProofTask, QueryId, QuerySet};
use super::{Engine, Parameters};
use crate::backend::lock;

/// Holds a Groth16 proof.
#[derive(Debug, Clone)]
pub struct Proof<E: Engine> {
    /// A in G1.
    pub a: E::G1Affine,
    /// B in G2.
    pub b: E::G2Affine,
    /// C in G1.
    pub c: E::G1Affine,
}

impl<E: Engine> PartialEq for Proof<E> {
    fn eq(&self, other: &Self) -> bool {
        self.a == other.a && self.b == other.b && self.c == other.c
    }
}

impl<E: Engine> Eq for Proof<E> {}

/// Holds the sums of the five MSMs of one proof, one over each query of the key.
pub(crate) struct MsmSums<E: Engine> {
    pub h: E::G1,
    pub l: E::G1,
    pub a: E::G1,
    pub b_g1: E::G1,
    pub b_g2: E::G2,
}

/// Holds the sums of those MSMs of one proof that are finished. A sum is `None` until its MSM is finished.
#[derive(Clone)]
pub(super) struct PartialMsmSums<E: Engine> {
    pub h: Option<E::G1>,
    pub l: Option<E::G1>,
    pub a: Option<E::G1>,
    pub b_g1: Option<E::G1>,
    pub b_g2: Option<E::G2>,
}

impl<E: Engine> PartialMsmSums<E> {
    pub(super) const NONE: Self = Self { h: None, l: None, a: None, b_g1: None, b_g2: None };

    /// Creates partial sums that contain only `sum`, the result of the G1 MSM over `query`.
    pub(super) fn from_g1(query: QueryId, sum: E::G1) -> Self {
        let of = |other| (query == other).then_some(sum);
        Self { h: of(QueryId::H), l: of(QueryId::L), a: of(QueryId::A), b_g1: of(QueryId::BG1), b_g2: None }
    }

    /// Creates partial sums that contain only `sum`, the result of the G2 MSM over B.
    pub(super) fn from_g2(sum: E::G2) -> Self {
        Self { b_g2: Some(sum), ..Self::NONE }
    }

    /// Copies the finished sums of `other` into this value. They replace sums over the same queries.
    pub(super) fn merge(&mut self, other: Self) {
        self.h = other.h.or(self.h);
        self.l = other.l.or(self.l);
        self.a = other.a.or(self.a);
        self.b_g1 = other.b_g1.or(self.b_g1);
        self.b_g2 = other.b_g2.or(self.b_g2);
    }

    /// Returns the set of queries whose MSMs are finished.
    pub(super) fn finished_queries(&self) -> QuerySet {
        let Self { h, l, a, b_g1, b_g2 } = self;
        let done = [(QueryId::H, h), (QueryId::L, l), (QueryId::A, a), (QueryId::BG1, b_g1)];
        let g1 = done.into_iter().filter(|(_, sum)| sum.is_some()).map(|(query, _)| query);
        g1.chain(b_g2.map(|_| QueryId::BG2)).fold(QuerySet::default(), QuerySet::with)
    }

    /// Returns the five sums, or `None` if an MSM is not finished.
    pub(super) fn to_complete(&self) -> Option<MsmSums<E>> {
        Some(MsmSums { h: self.h?, l: self.l?, a: self.a?, b_g1: self.b_g1?, b_g2: self.b_g2? })
    }
}

impl<E: Engine> From<MsmSums<E>> for PartialMsmSums<E> {
    fn from(MsmSums { h, l, a, b_g1, b_g2 }: MsmSums<E>) -> Self {
        Self { h: Some(h), l: Some(l), a: Some(a), b_g1: Some(b_g1), b_g2: Some(b_g2) }
    }
}

/// Holds the random scalars r and s of a proof, and the terms α + rδ of A and β + sδ of B. With them, sums over the
/// witness can be computed from the proof, so they are cleared on drop.
pub(super) struct Blinding<E: Engine> {
    a: E::G1,
    b: E::G2,
    r: E::Fr,
    s: E::Fr,
}

impl<E: Engine> Blinding<E> {
    /// Computes the terms α + rδ and β + sδ from `key`, `r` and `s`. They do not depend on the MSMs.
    pub(super) fn new(key: &Parameters<E>, r: E::Fr, s: E::Fr) -> Self {
        Self { a: key.delta_g1 * r + key.alpha_g1.to_curve(), b: key.delta_g2 * s + key.beta_g2.to_curve(), r, s }
    }
}

impl<E: Engine> Drop for Blinding<E> {
    fn drop(&mut self) {
        (self.r, self.s) = (E::Fr::ZERO, E::Fr::ZERO);
        (self.a, self.b) = (E::G1::identity(), E::G2::identity());
        // Nothing reads them any more, but the stores must not be optimised away.
        std::hint::black_box(&*self);
    }
}

/// Computes one proof from each element of `sums` and the element of `blinding` at the same index.
pub(super) fn assemble<E: Engine>(key: &Parameters<E>, sums: &[MsmSums<E>], blinding: &[Blinding<E>]) -> Vec<Proof<E>> {
    sums.par_iter().zip(blinding).map(|(sums, blinding)| sums.to_proof(key, blinding)).collect()
}

/// Computes the proof with the constants of `key`, MSM results `sums` and random scalars (r, s). Serves clusters, whose
/// ranks compute the sums together.
#[cfg(feature = "mpi")]
pub(crate) fn assemble_proof<E: Engine>(key: &Parameters<E>, sums: &MsmSums<E>, (r, s): (E::Fr, E::Fr)) -> Proof<E> {
    sums.to_proof(key, &Blinding::new(key, r, s))
}

impl<E: Engine> MsmSums<E> {
    /// Computes the proof: A = α + Σa + rδ, B = β + Σb + sδ, C = Σl + Σh + sA + r(β + Σb). In C, β + Σb is in G1. It
    /// omits sδ, which the term −rsδ of Groth16's C would cancel.
    fn to_proof(&self, key: &Parameters<E>, blinding: &Blinding<E>) -> Proof<E> {
        let a = blinding.a + self.a;
        let b_r = || (key.beta_g1.to_curve() + self.b_g1) * blinding.r;
        let (a_s, b_r) = rayon::join(|| a * blinding.s, b_r);
        let c = a_s + b_r + self.h + self.l;
        Proof { a: a.to_affine(), b: (blinding.b + self.b_g2).to_affine(), c: c.to_affine() }
    }
}

/// Holds the MSM sums of each witness of a batch that are finished so far. Threads may add sums concurrently.
pub(super) struct PartialResults<E: Engine>(Mutex<Vec<PartialMsmSums<E>>>);

impl<E: Engine> PartialResults<E> {
    pub(super) fn new(count: usize) -> Self {
        Self(Mutex::new((0..count).map(|_| PartialMsmSums::NONE).collect()))
    }

    pub(super) fn put(&self, number: usize, sums: PartialMsmSums<E>) {
        lock(&self.0)[number].merge(sums);
    }

    /// Copies the sums so far of the witnesses with these indices, `numbers`, in this order.
    pub(super) fn copy_subset(&self, numbers: &[usize]) -> Self {
        let done = lock(&self.0);
        Self(Mutex::new(numbers.iter().map(|number| done[*number].clone()).collect()))
    }

    /// Returns `jobs` without the MSMs that are finished. Jobs whose MSMs are all finished are omitted.
    pub(super) fn unfinished_tasks(&self, jobs: &[ProofTask]) -> Vec<ProofTask> {
        let done = lock(&self.0);
        let left =
            |job: &ProofTask| ProofTask { share: job.share.difference(done[job.number].finished_queries()), ..*job };
        jobs.iter().map(left).filter(|job| !job.share.is_empty()).collect()
    }

    pub(super) fn unfinished_witnesses(&self) -> Vec<usize> {
        let done = lock(&self.0);
        (0..done.len()).filter(|number| done[*number].to_complete().is_none()).collect()
    }

    /// Returns the sums so far of every witness, in the order of the witnesses.
    pub(super) fn all(self) -> Vec<PartialMsmSums<E>> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
