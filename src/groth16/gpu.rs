//! Proves on devices. A witness is uploaded once to each device that has a part of its proof. All work until the MSMs
//! is queued without waiting.

use std::sync::Arc;

use super::device_prover::DeviceProver;
use super::partial_results::PartialResults;
use super::schedule::{ProofTask, schedule};
use super::{Circuit, Engine, ProvingKeyOnDevice, Witness, streamed};
use crate::Result;
use crate::backend::{Abort, Device, StreamStats};
use crate::fan_out::fan_out;

/// Computes the missing MSMs of all `witnesses`, spread over `devices`, and adds their sums to `results`.
pub(super) fn prove<E: Engine>(
    devices: &[Arc<Device>],
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    abort: Abort<'_>,
) -> Result<StreamStats> {
    let jobs = schedule(witnesses.len(), devices.len(), &key.costs());
    let jobs = jobs.into_iter().map(|jobs| results.unfinished_tasks(&jobs));
    let shares = devices.iter().zip(jobs).filter(|(_, jobs)| !jobs.is_empty());
    let parts = fan_out("groth16", shares, |(device, jobs)| {
        prove_on(&DeviceProver::new(device, key, circuit, &jobs, abort)?, &jobs, witnesses, results, abort)
    });
    parts.into_iter().try_fold(StreamStats::default(), |sum, part| Ok(sum + part?))
}

/// Runs `jobs` on the device of `prover`, and adds their MSM sums to `results`. If the key is streamed, several jobs
/// share each streamed part.
fn prove_on<E: Engine>(
    prover: &DeviceProver<'_, E>,
    jobs: &[ProofTask],
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    abort: Abort<'_>,
) -> Result<StreamStats> {
    if jobs.len() > 1 && prover.tables.is_streamed() {
        return streamed::prove_streamed(prover, jobs, witnesses, results, abort);
    }
    prover.prove_each(jobs, witnesses, results, abort)
}
