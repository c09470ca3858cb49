//! Makes whole proofs.

use std::cell::RefCell;
use std::time::Instant;

use super::failover::{TranscriptReplay, unproved_error, wrong_sum};
use super::round_by_round::{Prover, check_inputs, device_for, op_scope};
use crate::backend::{Abort, Device, DeviceInfo, catch_hook_panic};
use crate::sumcheck::caller_columns::{Columns, HostSlices};
use crate::sumcheck::claim::Claim;
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
/// - [`Error::Unavailable`]: the path is `KernelPath::Clmad`, which a device that is forced, or that holds the columns,
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
    let (finals, report) = catch_hook_panic(abort, |abort| match columns.slices() {
        Some(slices) => prove_host_columns(accelerator, claim, &slices, &mut dialogue, options, abort),
        None => prove_device_columns(claim, columns, &mut dialogue, options, abort),
    })?;
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
    let devices: Vec<_> = device_for(accelerator, claim, options).into_iter().cloned().collect();
    let device = devices.first().map_or_else(String::new, |device| device.info().name.clone());
    let host = || Prover::start_on_host(claim, columns, Vec::new());
    // Both closures need the dialogue, and only one runs at a time.
    let dialogue = RefCell::new(dialogue);
    accelerator.with_devices(devices).dispatch(
        op_scope(claim, columns.len()),
        |devices| {
            let mut dialogue = dialogue.borrow_mut();
            let mut prover = Prover::start_on_device(&devices[0], claim, columns.to_columns(), options, abort)?;
            let finals = dialogue.run_prover(&mut prover, abort)?;
            match accelerator.forced() {
                _ if dialogue.is_claim_proved(claim, &finals) => Ok((finals, prover.traffic())),
                Some(_) => Err(dialogue.diagnose_failure(&finals, host(), &device, abort)?),
                None => Err(unproved_error(&device)),
            }
        },
        || {
            let mut dialogue = dialogue.borrow_mut();
            let finals = dialogue.rerun_on_host(|| Ok(host()), &device, abort)?;
            if dialogue.is_claim_proved(claim, &finals) { Ok(finals) } else { Err(wrong_sum()) }
        },
    )
}

/// Proves `claim` on the device that holds the columns, without fallback to the host.
fn prove_device_columns<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    options: &SumcheckOptions,
    abort: Abort<'_>,
) -> Result<(Vec<F>, Report)> {
    let (start, call) = (Instant::now(), op_scope(claim, columns.count(claim.variables())));
    let device = columns.device_of();
    let info = device.as_deref().map(Device::info);
    let (backend, name) = DeviceInfo::backend_and_name(info);
    let kept = columns.reborrow_kept();
    let result = Prover::start_on_owning_device(claim, columns, options, abort).and_then(|mut prover| {
        let finals = dialogue.run_prover(&mut prover, abort)?;
        if dialogue.is_claim_proved(claim, &finals) {
            return Ok((finals, prover.traffic()));
        }
        Err(diagnose_kept_columns(claim, kept.as_ref(), dialogue, (&finals, name), abort)?)
    });
    let (finals, traffic) = result.inspect_err(|error| {
        if let Some(info) = info {
            call.report_device_failure(info, error);
        }
    })?;
    Ok((finals, call.report_success(backend, name, start, traffic, Vec::new())))
}

/// Returns the error for `finals` that a device computed and that do not prove `claim`. If the columns are still on the
/// device (`columns`), the host computes the proof too and compares.
fn diagnose_kept_columns<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    columns: Option<&Columns<'_, F>>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    (finals, device): (&Vec<F>, &str),
    abort: Abort<'_>,
) -> Result<Error> {
    let Some(columns) = columns else { return Ok(unproved_error(device)) };
    let rows = 1 << claim.variables();
    let copy = HostCopy::new(columns, rows, abort)?;
    dialogue.diagnose_failure(finals, Prover::start_on_host(claim, &copy.slices(rows), Vec::new()), device, abort)
}
