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

/// Limits the scalars of circuits to 1/MEMORY_SHARE of the free memory. The rest is left to transforms and MSMs.
const MEMORY_SHARE: u64 = 2;

/// Runs `jobs`, as many together as memory allows. Finished MSMs are kept if a later one fails.
pub(super) fn prove<E: Engine>(
    prover: &DeviceProver<'_, E>,
    jobs: &[ProofTask],
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    abort: Abort<'_>,
) -> Result<StreamStats> {
    let (mut most, mut left, mut traffic) = (max_batch(prover)?, jobs, StreamStats::default());
    while !left.is_empty() {
        let (now, later) = left.split_at(balanced_len(left.len(), most));
        let jobs = results.missing_of(now);
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

/// Returns how many circuits' scalars may be on the device at a time. Each has its assignment, and a selection of that
/// or the coefficients of h.
fn max_batch<E: Engine>(prover: &DeviceProver<'_, E>) -> Result<usize> {
    let circuit = prover.circuit;
    let other = circuit.a.len().max(circuit.b.len()).max(1 << prover.domain.log_n());
    let bytes = 32 * (circuit.variables() + other) as u64;
    Ok((prover.device.free_memory()? / MEMORY_SHARE / bytes).max(1) as usize)
}
