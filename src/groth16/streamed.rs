//! Proves batches under keys that a device does not hold whole: each part of a query that is uploaded serves several
//! circuits.

use super::batched::prove_batch;
use super::device_prover::DeviceProver;
use super::partial_results::PartialResults;
use super::schedule::ProofTask;
use super::{Engine, Witness};
use crate::backend::{Abort, StreamStats};
use crate::msm::balanced_len;
use crate::{Error, Result};

/// Divisor of a device's free memory: the scalars of a batch take at most 1/MEMORY_SHARE of it. The rest is left to
/// transforms and MSMs.
const MEMORY_SHARE: u64 = 2;

/// Runs `jobs` on the device of `prover`, as many in one batch as memory allows, and adds their MSM sums to `results`.
/// The proofs of a batch share each streamed part of a query. Sums stay in `results` if a later MSM fails.
pub(super) fn prove_streamed<E: Engine>(
    prover: &DeviceProver<'_, E>,
    jobs: &[ProofTask],
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    abort: Abort<'_>,
) -> Result<StreamStats> {
    let (mut most, mut left, mut traffic) = (max_batch(prover)?, jobs, StreamStats::default());
    while !left.is_empty() {
        let (now, later) = left.split_at(balanced_len(left.len(), most));
        let jobs = results.unfinished_tasks(now);
        if now.len() == 1 {
            traffic = traffic + prover.prove_each(&jobs, witnesses, results, abort)?;
            left = later;
            continue;
        }
        let (moved, result) = prove_batch(prover, jobs, witnesses, results, abort);
        traffic = traffic + moved;
        match result {
            Err(Error::OutOfMemory { requested, available, .. }) => {
                most = now.len().div_ceil(2);
                log::info!("groth16: {most} proofs together: {requested} bytes wanted, {available} free");
            }
            result => {
                result?;
                left = later;
            }
        }
    }
    Ok(traffic)
}

/// Returns the maximum number of proofs, at least 1, whose scalars may be on the device at the same time. A proof has
/// its assignment there, and one more vector: values selected for a query, or the coefficients of h.
fn max_batch<E: Engine>(prover: &DeviceProver<'_, E>) -> Result<usize> {
    let circuit = prover.circuit;
    let other = circuit.a.len().max(circuit.b.len()).max(1 << prover.domain.log_n());
    let bytes = 32 * (circuit.variable_count() + other) as u64;
    Ok((prover.device.free_memory()? / MEMORY_SHARE / bytes).max(1) as usize)
}
