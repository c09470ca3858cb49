//! Makes whole proofs.

use std::sync::Arc;

use super::failover::{TranscriptReplay, unproved_error, wrong_sum};
use super::round_by_round::{Prover, check_inputs, device_for, op_scope};
use crate::backend::{Abort, Device};
use crate::exec::{ExecCtx, Operation, execute};
use crate::report::OpScope;
use crate::sumcheck::caller_columns::{Columns, HostSlices};
use crate::sumcheck::claim::{Claim, ERROR_CONTEXT};
use crate::sumcheck::field::SumcheckField;
use crate::sumcheck::gpu::HostCopy;
use crate::sumcheck::proof::{Proof, is_proved};
use crate::sumcheck::rounds::SumcheckOptions;
use crate::sumcheck::transcript::{BoundTranscript, Frame, Transcript};
use crate::{Accelerator, Error, Report, Result};

/// Proves `claim`, and returns the proof with a report of the run. The transcript takes in the claim, then one message
/// per round, then the finals, which are the columns' values at the last point.
///
/// Takes slightly more multiplications per row than the terms have factors. Runs on the accelerator's first device, or
/// on the one that holds the columns. Columns stay unchanged unless they are [`Columns::Consumed`].
///
/// The proof is checked as the verifier does before it is returned. If a device fails or computes a wrong value, the
/// host proves a claim on host columns, unless a backend is forced.
///
/// # Errors
/// - [`Error::Invalid`]: the claim is malformed.
/// - [`Error::Invalid`]: the number of columns, or the length of one, does not fit the claim.
/// - [`Error::Invalid`]: the columns are over a base field or bit-sliced, and the field or the claim does not allow
///   that.
/// - [`Error::Invalid`]: the claim's sum is not the columns', and these are not [`Columns::Consumed`].
/// - [`Error::Aborted`]: the abort hook aborted.
/// - [`Error::OutOfMemory`]: a device that is forced, or that holds the columns, has too little memory.
/// - [`Error::Device`] or another device error: such a device failed or computed a wrong value.
/// - [`Error::Device`]: the claim's sum is not that of [`Columns::Consumed`], which the host cannot check.
/// - [`Error::Device`]: any device computed a wrong message, and the transcript cannot go back
///   ([`Transcript::checkpoint`]).
///
/// The transcript must not be used after an error.
pub fn prove<F: SumcheckField, T: Transcript<F>>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    transcript: BoundTranscript<'_, F, T>,
    abort: Abort<'_>,
) -> Result<(Proof<F>, Report)> {
    prove_with(accelerator, claim, columns, transcript, &SumcheckOptions::default(), abort)
}

/// Proves `claim` like [`prove`], configured by `options`.
///
/// # Errors
/// - The errors of [`prove`].
/// - [`Error::Invalid`]: the field or the claim does not have the requested path or rounds a pass.
/// - [`Error::Unsupported`]: the path is `KernelPath::Clmad`, which a device that is forced, or that holds the columns,
///   does not have.
pub fn prove_with<F: SumcheckField, T: Transcript<F>>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    transcript: BoundTranscript<'_, F, T>,
    options: &SumcheckOptions,
    abort: Abort<'_>,
) -> Result<(Proof<F>, Report)> {
    check_inputs(claim, &columns, options)?;
    let transcript = transcript.transcript;
    claim.observe(transcript);
    let mut dialogue = TranscriptReplay::new(&mut *transcript);
    let (finals, report) = match columns.slices() {
        Some(slices) => prove_host_columns(accelerator, claim, &slices, &mut dialogue, options, abort)?,
        None => prove_device_columns(accelerator, claim, columns, &mut dialogue, options, abort)?,
    };
    let messages = dialogue.messages;
    Frame::Finals.observe(transcript, &finals);
    Ok((Proof { messages, finals }, report))
}

impl<F: SumcheckField, T: Transcript<F>> TranscriptReplay<'_, F, T> {
    fn is_claim_proved(&self, claim: &Claim<F>, finals: &[F]) -> bool {
        is_proved(claim, &self.messages, &self.challenges, finals)
    }
}

fn prove_host_columns<F: SumcheckField, T: Transcript<F>>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: &HostSlices<'_, F>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    options: &SumcheckOptions,
    abort: Abort<'_>,
) -> Result<(Vec<F>, Report)> {
    let device = device_for(accelerator, claim, options);
    let mut operation = HostColumnsProof {
        claim,
        columns,
        dialogue,
        options,
        device: device.map_or_else(String::new, |device| device.info().name.clone()),
        is_forced: accelerator.forced().is_some(),
    };
    execute(accelerator, device.map_or(&[], std::slice::from_ref), &mut operation, abort)
}

/// Proves a claim on columns in host memory. Its result is the finals.
struct HostColumnsProof<'p, 't, F: SumcheckField, T> {
    claim: &'p Claim<F>,
    columns: &'p HostSlices<'p, F>,
    dialogue: &'p mut TranscriptReplay<'t, F, T>,
    options: &'p SumcheckOptions,
    /// Name of the device that proves first, or empty.
    device: String,
    is_forced: bool,
}

impl<F: SumcheckField, T: Transcript<F>> Operation for HostColumnsProof<'_, '_, F, T> {
    type Output = Vec<F>;

    fn scope(&self) -> OpScope {
        op_scope(self.claim, self.columns.len())
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Vec<F>> {
        let columns = self.columns.to_columns();
        let mut prover = Prover::start_on_device(&devices[0], self.claim, columns, self.options, ctx)?;
        let finals = self.dialogue.run_prover(&mut prover, ctx)?;
        if self.dialogue.is_claim_proved(self.claim, &finals) {
            ctx.add_stats(prover.traffic());
            return Ok(finals);
        }
        if !self.is_forced {
            return Err(unproved_error(&self.device));
        }
        let host = Prover::start_on_host(self.claim, self.columns, Vec::new());
        Err(self.dialogue.diagnose_failure(&finals, host, &self.device, ctx)?)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<Vec<F>> {
        let (claim, columns) = (self.claim, self.columns);
        let host = || Ok(Prover::start_on_host(claim, columns, Vec::new()));
        let finals = self.dialogue.rerun_on_host(host, &self.device, ctx)?;
        if self.dialogue.is_claim_proved(claim, &finals) { Ok(finals) } else { Err(wrong_sum()) }
    }
}

/// Proves `claim` on the device that holds the columns, without fallback to the host.
fn prove_device_columns<F: SumcheckField, T: Transcript<F>>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    options: &SumcheckOptions,
    abort: Abort<'_>,
) -> Result<(Vec<F>, Report)> {
    let device = columns.device_of().ok_or_else(|| Error::internal(ERROR_CONTEXT))?;
    let mut operation = DeviceColumnsProof {
        claim,
        count: columns.count(claim.variables()),
        columns: Some(columns),
        dialogue,
        options,
    };
    execute(accelerator, &[device], &mut operation, abort)
}

/// Proves a claim on columns that a device holds. Its result is the finals.
struct DeviceColumnsProof<'p, 'c, 't, F: SumcheckField, T> {
    claim: &'p Claim<F>,
    /// Number of columns.
    count: usize,
    /// The columns; `None` once the prover has them.
    columns: Option<Columns<'c, F>>,
    dialogue: &'p mut TranscriptReplay<'t, F, T>,
    options: &'p SumcheckOptions,
}

impl<F: SumcheckField, T: Transcript<F>> Operation for DeviceColumnsProof<'_, '_, '_, F, T> {
    type Output = Vec<F>;

    fn scope(&self) -> OpScope {
        op_scope(self.claim, self.count)
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<Vec<F>> {
        let columns = self.columns.take().ok_or_else(|| Error::internal(ERROR_CONTEXT))?;
        let kept = columns.reborrow_kept();
        let mut prover = Prover::start_on_device(&devices[0], self.claim, columns, self.options, ctx)?;
        let finals = self.dialogue.run_prover(&mut prover, ctx)?;
        if self.dialogue.is_claim_proved(self.claim, &finals) {
            ctx.add_stats(prover.traffic());
            return Ok(finals);
        }
        let found = (&finals, &*devices[0].info().name);
        Err(diagnose_kept_columns(self.claim, kept.as_ref(), self.dialogue, found, ctx)?)
    }

    fn has_cpu_path(&self) -> bool {
        false
    }

    fn on_cpu(&mut self, _: ExecCtx<'_>) -> Result<Vec<F>> {
        Err(Error::internal(ERROR_CONTEXT))
    }
}

/// Returns the error for `finals` that a device computed and that do not prove `claim`. If the columns are still on the
/// device (`columns`), the host computes the proof too and compares.
fn diagnose_kept_columns<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    columns: Option<&Columns<'_, F>>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    (finals, device): (&Vec<F>, &str),
    ctx: ExecCtx<'_>,
) -> Result<Error> {
    let Some(columns) = columns else { return Ok(unproved_error(device)) };
    let rows = 1 << claim.variables();
    let copy = HostCopy::new(columns, rows, ctx)?;
    dialogue.diagnose_failure(finals, Prover::start_on_host(claim, &copy.slices(rows), Vec::new()), device, ctx)
}
