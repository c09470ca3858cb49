//! The proofs that one device makes, some of them under way at once.

use std::collections::VecDeque;

use super::gpu::{Lane, Prover};
use super::proof::Partial;
use super::spread::Job;
use super::{Engine, Results, Witness, streamed};
use crate::backend::{Abort, Traffic};
use crate::curve::MsmCurve;
use crate::field::DeviceVector;
use crate::msm::Queued;
use crate::waiting::beside;
use crate::{Error, Result};

/// A device's share of a proof under way. Dropped from top to bottom: multiplications run to their end before streams,
/// and streams before the assignment goes.
pub(super) struct UnderWay<'a, E: Engine> {
    pub number: usize,
    pub b_g2: Option<Queued<'a, E::G2Affine>>,
    /// a, b_g1 and l.
    pub g1: [Option<Queued<'a, E::G1Affine>>; 3],
    pub h: Option<Queued<'a, E::G1Affine>>,
    pub lane: Lane<'a>,
    pub assignment: DeviceVector<E::Fr>,
}

impl<E: Engine> UnderWay<'_, E> {
    /// Waits for the sums.
    fn finish(self, abort: Abort<'_>) -> Result<(Partial<E>, Traffic)> {
        // The assignment goes after what uses it, if a sum fails.
        let Self { assignment: _assignment, mut lane, b_g2, g1: [a, b_g1, l], h, .. } = self;
        let g2 = || b_g2.map(|sum| sum.finish(abort)).transpose();
        let g1 = || [a, b_g1, l, h].map(|sum| sum.map(|sum| sum.finish(abort)).transpose());
        // What the host adds up of the first takes as long as all the others' together.
        let (b_g2, g1) = beside(g2, g1);
        let b_g2 = b_g2.unwrap_or_else(|panic| Err(Error::panicked("groth16", &*panic)));
        let ((b_g2, up), [a, b_g1, l, h]) = (split::<E::G2Affine>(b_g2?), g1);
        let [a, b_g1, l, h] = [a?, b_g1?, l?, h?].map(split::<E::G1Affine>);
        // All is done: this reads the times of kernels.
        lane.compute.wait(None)?;
        let traffic = [a.1, b_g1.1, l.1, h.1, lane.traffic()].into_iter().fold(up, |sum, part| sum + part);
        Ok((Partial { h: h.0, l: l.0, a: a.0, b_g1: b_g1.0, b_g2 }, traffic))
    }
}

/// A sum if there is one, and what it moved.
fn split<C: MsmCurve>(sum: Option<(C::Curve, Traffic)>) -> (Option<C::Curve>, Traffic) {
    sum.map_or((None, Traffic::default()), |(sum, traffic)| (Some(sum), traffic))
}

/// The proofs that one device makes.
pub(super) struct Running<'a, 'b, E: Engine> {
    prover: &'a Prover<'b, E>,
    /// Most proofs under way; 0 where even one has to make its sums one after the other.
    at_once: usize,
    under_way: VecDeque<UnderWay<'a, E>>,
    traffic: Traffic,
    results: &'a Results<E>,
    abort: Abort<'a>,
}

impl<'a, 'b, E: Engine> Running<'a, 'b, E> {
    pub fn new(prover: &'a Prover<'b, E>, at_once: usize, results: &'a Results<E>, abort: Abort<'a>) -> Self {
        Self { prover, at_once, under_way: VecDeque::new(), traffic: Traffic::default(), results, abort }
    }

    /// Starts a job once there is a place for it.
    pub fn add(&mut self, job: Job, witnesses: &[Witness<'_, E::Fr>]) -> Result<()> {
        self.finish_to(self.at_once.saturating_sub(1))?;
        if self.at_once > 0 {
            match self.prover.start(job, &witnesses[job.number], self.at_once, self.abort) {
                Err(Error::OutOfMemory { requested, available, .. }) => {
                    log::warn!("groth16: one sum after the other: {requested} bytes wanted, {available} free");
                    self.at_once = 0;
                    self.finish_to(0)?;
                }
                started => {
                    self.under_way.push_back(started?);
                    return Ok(());
                }
            }
        }
        self.traffic = self.traffic + streamed::prove_one(self.prover, job, witnesses, self.results, self.abort)?;
        Ok(())
    }

    /// Waits for all that is under way.
    pub fn finish(mut self) -> Result<Traffic> {
        self.finish_to(0)?;
        Ok(self.traffic)
    }

    /// Waits until at most so many proofs are under way.
    fn finish_to(&mut self, most: usize) -> Result<()> {
        while self.under_way.len() > most {
            let Some(proof) = self.under_way.pop_front() else { break };
            let number = proof.number;
            let (sums, traffic) = proof.finish(self.abort)?;
            self.results.put(number, sums);
            self.traffic = self.traffic + traffic;
        }
        Ok(())
    }
}
