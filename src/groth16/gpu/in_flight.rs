//! Makes the proofs of one device, some of them in flight at once.

use std::collections::VecDeque;
use std::time::Duration;

use super::batched::prove_one;
use super::device_proof::DeviceProof;
use super::device_prover::DeviceProver;
use super::proof_streams::memory_part_count;
use crate::exec::ExecCtx;
use crate::groth16::msm_sums_and_proof::PartialResults;
use crate::groth16::schedule::ProofTask;
use crate::groth16::{Engine, Witness};
use crate::{Error, Result};

/// Maximum number of concurrent proofs on a device, 2, so that the host's work for one overlaps the kernels of the
/// other.
const IN_FLIGHT: usize = 2;
/// Minimum ratio of a device's free memory to the size of one proof's vectors at which proofs run concurrently.
const MEMORY_PARTS: u64 = 4;

/// Maximum ratio of concurrent to sequential time, as numerator and denominator, at which MSMs still run concurrently.
/// The cost model ignores the overlap of kernel ends, uploads and the host's work, so the ratio may exceed 1.
const MAX_SLOWDOWN: (u32, u32) = (3, 2);

impl<E: Engine> DeviceProver<'_, E> {
    /// Starts `jobs` in their order, several of them concurrently, and waits for all of them. Adds their MSM sums to
    /// `results`.
    pub(crate) fn prove_each(
        &self,
        jobs: &[ProofTask],
        witnesses: &[Witness<'_, E::Fr>],
        results: &PartialResults<E>,
        ctx: ExecCtx<'_>,
    ) -> Result<()> {
        let mut running = ConcurrentProofs::new(self, self.max_concurrent(jobs.len())?, results, ctx);
        jobs.iter().try_for_each(|job| running.start_proof(*job, witnesses))?;
        running.finish_oldest(0)
    }

    /// Returns the maximum number of proofs that run concurrently, out of `jobs` proofs. Returns 0 if even the MSMs of
    /// one proof should run one after another. That is so if memory is too short for concurrent MSMs, or they would
    /// take too long.
    fn max_concurrent(&self, jobs: usize) -> Result<usize> {
        if self.matrices.is_none() {
            return Ok(0);
        }
        let elements = 3 * (1u64 << self.domain.log_n()) + 3 * self.circuit.variable_count() as u64;
        let (free, vectors) = (self.device.free_memory()?, 32 * elements);
        let most = if free / MEMORY_PARTS >= vectors { IN_FLIGHT.min(jobs).max(1) } else { 1 };
        let good =
            |proofs: &usize| self.is_concurrency_worthwhile(free.saturating_sub(vectors * *proofs as u64), *proofs);
        self.tables.get_or_choose_concurrency(free, most, || (1..=most).rev().find(good).unwrap_or(0))
    }

    /// Returns whether the MSMs of `proofs` proofs should run concurrently, sharing `bytes` bytes of workspace. By the
    /// cost model, they may take at most `MAX_SLOWDOWN` times as long as one after another with all `bytes`.
    fn is_concurrency_worthwhile(&self, bytes: u64, proofs: usize) -> bool {
        let parts = memory_part_count(proofs);
        let side_by_side = self.tables.estimate_msm_time(bytes / parts as u64, parts);
        let in_turn = || self.tables.estimate_msm_time(bytes, 1).unwrap_or(Duration::MAX);
        side_by_side.is_some_and(|time| time <= in_turn().saturating_mul(MAX_SLOWDOWN.0) / MAX_SLOWDOWN.1)
    }
}

/// Runs the proofs of one device, several of them concurrently.
struct ConcurrentProofs<'a, 'b, E: Engine> {
    prover: &'a DeviceProver<'b, E>,
    /// Maximum number of concurrent proofs; 0 if even the MSMs of one proof run one after another.
    max_concurrent: usize,
    under_way: VecDeque<DeviceProof<'a, E>>,
    results: &'a PartialResults<E>,
    ctx: ExecCtx<'a>,
}

impl<'a, 'b, E: Engine> ConcurrentProofs<'a, 'b, E> {
    fn new(prover: &'a DeviceProver<'b, E>, at_once: usize, results: &'a PartialResults<E>, ctx: ExecCtx<'a>) -> Self {
        Self { prover, max_concurrent: at_once, under_way: VecDeque::new(), results, ctx }
    }

    /// Starts the proof of `job` as soon as fewer than `max_concurrent` proofs are running. If memory is too short for
    /// concurrent MSMs, runs the proof to its end, one MSM after another.
    fn start_proof(&mut self, job: ProofTask, witnesses: &[Witness<'_, E::Fr>]) -> Result<()> {
        self.finish_oldest(self.max_concurrent.saturating_sub(1))?;
        if self.max_concurrent > 0 {
            match self.prover.start(job, &witnesses[job.number], self.max_concurrent, self.ctx) {
                Err(Error::OutOfMemory { requested, available, .. }) => {
                    log::warn!("groth16: one sum after the other: {requested} bytes wanted, {available} free");
                    self.max_concurrent = 0;
                    self.finish_oldest(0)?;
                }
                started => {
                    self.under_way.push_back(started?);
                    return Ok(());
                }
            }
        }
        prove_one(self.prover, job, witnesses, self.results, self.ctx)
    }

    /// Waits for the oldest proofs until at most `most` are running, and adds their MSM sums to the results.
    fn finish_oldest(&mut self, most: usize) -> Result<()> {
        while self.under_way.len() > most {
            let Some(proof) = self.under_way.pop_front() else { break };
            let number = proof.number;
            self.results.put(number, proof.finish(self.ctx)?);
        }
        Ok(())
    }
}
