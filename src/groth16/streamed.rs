//! Proves batches under keys that a device does not hold whole: each part of a query that is uploaded serves several
//! circuits.

use super::prover::Prover;
use super::results::Results;
use super::spread::Job;
use super::together::together;
use super::{Engine, Witness};
use crate::backend::{Abort, Traffic};
use crate::msm::even;
use crate::{Error, Result};

/// Limits the scalars of circuits to 1/MEMORY_SHARE of the free memory. The rest is left to transforms and MSMs.
const MEMORY_SHARE: u64 = 2;

/// Runs `jobs`, as many together as memory allows. Finished MSMs are kept if a later one fails.
pub(super) fn prove<E: Engine>(
    prover: &Prover<'_, E>,
    jobs: &[Job],
    witnesses: &[Witness<'_, E::Fr>],
    results: &Results<E>,
    abort: Abort<'_>,
) -> Result<Traffic> {
    let (mut most, mut left, mut traffic) = (most_together(prover)?, jobs, Traffic::default());
    while !left.is_empty() {
        let (now, later) = left.split_at(even(left.len(), most));
        let jobs = results.missing_of(now);
        if now.len() == 1 {
            traffic = traffic + prover.prove_each(&jobs, witnesses, results, abort)?;
            left = later;
            continue;
        }
        let (moved, result) = together(prover, jobs, witnesses, results, abort);
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
fn most_together<E: Engine>(prover: &Prover<'_, E>) -> Result<usize> {
    let circuit = prover.circuit;
    let other = circuit.a.len().max(circuit.b.len()).max(1 << prover.domain.log_n());
    let bytes = 32 * (circuit.variables() + other) as u64;
    Ok((prover.device.free_memory()? / MEMORY_SHARE / bytes).max(1) as usize)
}
