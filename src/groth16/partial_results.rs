//! Collects the MSM results of a batch.

use std::sync::{Mutex, PoisonError};

use super::Engine;
use super::proof::PartialMsmSums;
use super::schedule::ProofTask;
use crate::backend::lock;

/// Holds the MSM sums of each witness of a batch that are finished so far. Threads may add sums concurrently.
pub(super) struct PartialResults<E: Engine>(Mutex<Vec<PartialMsmSums<E>>>);

impl<E: Engine> PartialResults<E> {
    pub fn new(count: usize) -> Self {
        Self(Mutex::new((0..count).map(|_| PartialMsmSums::NONE).collect()))
    }

    pub fn put(&self, number: usize, sums: PartialMsmSums<E>) {
        lock(&self.0)[number].merge(sums);
    }

    /// Copies the sums so far of the witnesses with these indices, `numbers`, in this order.
    pub fn copy_subset(&self, numbers: &[usize]) -> Self {
        let done = lock(&self.0);
        Self(Mutex::new(numbers.iter().map(|number| done[*number].clone()).collect()))
    }

    /// Returns `jobs` without the MSMs that are finished. Jobs whose MSMs are all finished are omitted.
    pub fn unfinished_tasks(&self, jobs: &[ProofTask]) -> Vec<ProofTask> {
        let done = lock(&self.0);
        let left =
            |job: &ProofTask| ProofTask { share: job.share.difference(done[job.number].finished_queries()), ..*job };
        jobs.iter().map(left).filter(|job| !job.share.is_empty()).collect()
    }

    pub fn unfinished_witnesses(&self) -> Vec<usize> {
        let done = lock(&self.0);
        (0..done.len()).filter(|number| done[*number].to_complete().is_none()).collect()
    }

    /// Returns the sums so far of every witness, in the order of the witnesses.
    pub fn all(self) -> Vec<PartialMsmSums<E>> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
