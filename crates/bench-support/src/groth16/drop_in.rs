//! bellperson's own prover, on the crate ec-gpu-gen that this program is linked with.

use bellperson::groth16::create_proof_batch;

use super::outcome::Outcome;
use super::phases;
use super::task::Task;
use crate::Failure;

/// Measures bellperson's prover on the drop-in for ec-gpu-gen.
///
/// # Errors
/// Returns an error if it cannot prove, or if a proof is not valid.
pub fn measure(task: &Task) -> Result<Outcome, Failure> {
    const ENGINE: &str = "ec-gpu-gen";
    phases::collect();
    let (runs, phases) = task.repeat(ENGINE, || {
        phases::clear();
        let run = task.prove(|circuits, r, s| create_proof_batch(circuits, &task.parameters, r, s))?;
        Ok((run, phases::take(&task.parameters, task.batch.circuits.len())))
    })?;
    let outcome = task.outcome(ENGINE, phases::places(&phases), &runs)?;
    Ok(Outcome { phases, ..outcome })
}
