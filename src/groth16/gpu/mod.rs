//! Proves on devices. A witness is uploaded once to each device that has a part of its proof. All work until the MSMs
//! is queued without waiting.
//!
//! If a device does not hold a key whole, each part of a query that is uploaded serves several circuits.

mod batched;
mod device_proof;
mod device_prover;
mod in_flight;
mod proof_streams;
mod quotient;

use std::sync::Arc;

use super::msm_sums_and_proof::PartialResults;
use super::schedule::{ProofTask, schedule};
use super::{Circuit, Engine, ProvingKeyOnDevice, Witness};
use crate::backend::Device;
use crate::exec::{ExecCtx, fan_out};
use crate::msm::balanced_len;
use crate::{Error, Result};
use batched::prove_batch;
use device_prover::DeviceProver;

/// Computes the missing MSMs of all `witnesses`, spread over `devices`, and adds their sums to `results`.
pub(super) fn prove<E: Engine>(
    devices: &[Arc<Device>],
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let jobs = schedule(witnesses.len(), devices.len(), &key.costs());
    let jobs = jobs.into_iter().map(|jobs| results.unfinished_tasks(&jobs));
    let shares = devices.iter().zip(jobs).filter(|(_, jobs)| !jobs.is_empty());
    let parts = fan_out("groth16", shares, |(device, jobs)| {
        prove_on(&DeviceProver::new(device, key, circuit, &jobs, ctx)?, &jobs, witnesses, results, ctx)
    });
    parts.into_iter().collect()
}

/// Runs `jobs` on the device of `prover`, and adds their MSM sums to `results`. If the key is streamed, several jobs
/// share each streamed part.
fn prove_on<E: Engine>(
    prover: &DeviceProver<'_, E>,
    jobs: &[ProofTask],
    witnesses: &[Witness<'_, E::Fr>],
    results: &PartialResults<E>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    if jobs.len() > 1 && prover.tables.is_streamed() {
        return prove_streamed(prover, jobs, witnesses, results, ctx);
    }
    prover.prove_each(jobs, witnesses, results, ctx)
}

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
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let (mut most, mut left) = (max_batch(prover)?, jobs);
    while !left.is_empty() {
        let (now, later) = left.split_at(balanced_len(left.len(), most));
        let jobs = results.unfinished_tasks(now);
        if now.len() == 1 {
            prover.prove_each(&jobs, witnesses, results, ctx)?;
            left = later;
            continue;
        }
        match prove_batch(prover, jobs, witnesses, results, ctx) {
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
    Ok(())
}

/// Returns the maximum number of proofs, at least 1, whose scalars may be on the device at the same time. A proof has
/// its assignment there, and one more vector: values selected for a query, or the coefficients of h.
fn max_batch<E: Engine>(prover: &DeviceProver<'_, E>) -> Result<usize> {
    let circuit = prover.circuit;
    let other = circuit.a.len().max(circuit.b.len()).max(1 << prover.domain.log_n());
    let bytes = 32 * (circuit.variable_count() + other) as u64;
    Ok((prover.device.free_memory()? / MEMORY_SHARE / bytes).max(1) as usize)
}
