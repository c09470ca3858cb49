//! Makes whole proofs.

use std::cell::RefCell;
use std::time::Instant;

use super::claim::Claim;
use super::columns::{Columns, Slices};
use super::commitment_transcript::BoundTranscript;
use super::field::SumcheckField;
use super::host_check_copy::HostCopy;
use super::plan::SumcheckOptions;
use super::proof::Proof;
use super::prover::{Prover, call, check, device_for};
use super::prover_failover::{TranscriptReplay, unproved, wrong_sum};
use super::transcript::Transcript;
use super::transcript_frame::Frame;
use super::verify::is_proved;
use crate::backend::{Abort, Device, catch_hook_panic};
use crate::{Accelerator, BackendKind, Error, Report, Result};

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
    check(claim, &columns, options)?;
    let transcript = transcript.transcript;
    claim.observe(transcript);
    let mut dialogue = TranscriptReplay::new(&mut *transcript);
    let (finals, report) = catch_hook_panic(abort, |abort| match columns.slices() {
        Some(slices) => from_host(accelerator, claim, &slices, &mut dialogue, options, abort),
        None => where_they_lie(claim, columns, &mut dialogue, options, abort),
    })?;
    let messages = dialogue.messages;
    Frame::Finals.observe(transcript, &finals);
    Ok((Proof { messages, finals }, report))
}

impl<F: SumcheckField, T: Transcript<F>> TranscriptReplay<'_, F, T> {
    fn proves(&self, claim: &Claim<F>, finals: &[F]) -> bool {
        is_proved(claim, &self.messages, &self.challenges, finals)
    }
}

fn from_host<F: SumcheckField, T: Transcript<F>>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: &Slices<'_, F>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    options: &SumcheckOptions,
    abort: Abort<'_>,
) -> Result<(Vec<F>, Report)> {
    let devices: Vec<_> = device_for(accelerator, claim, options).into_iter().cloned().collect();
    let device = devices.first().map_or_else(String::new, |device| device.info().name.clone());
    let host = || Prover::on_host(claim, columns, Vec::new());
    // Both closures need the dialogue, and only one runs at a time.
    let dialogue = RefCell::new(dialogue);
    accelerator.with_devices(devices).dispatch(
        call(claim, columns.len()),
        |devices| {
            let mut dialogue = dialogue.borrow_mut();
            let mut prover = Prover::on_device(&devices[0], claim, columns.columns(), options, abort)?;
            let finals = dialogue.finals(&mut prover, abort)?;
            match accelerator.forced() {
                _ if dialogue.proves(claim, &finals) => Ok((finals, prover.traffic())),
                Some(_) => Err(dialogue.judge(&finals, host(), &device, abort)?),
                None => Err(unproved(&device)),
            }
        },
        || {
            let mut dialogue = dialogue.borrow_mut();
            let finals = dialogue.on_host(|| Ok(host()), &device, abort)?;
            if dialogue.proves(claim, &finals) { Ok(finals) } else { Err(wrong_sum()) }
        },
    )
}

/// Proves `claim` on the device that holds the columns, without fallback to the host.
fn where_they_lie<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    options: &SumcheckOptions,
    abort: Abort<'_>,
) -> Result<(Vec<F>, Report)> {
    let (start, call) = (Instant::now(), call(claim, columns.count(claim.variables())));
    let device = columns.device_of();
    let info = device.as_deref().map(Device::info);
    let (backend, name) = info.map_or((BackendKind::Cpu, "host"), |info| (info.backend, info.name.as_str()));
    let kept = columns.kept();
    let result = Prover::on_owning_device(claim, columns, options, abort).and_then(|mut prover| {
        let finals = dialogue.finals(&mut prover, abort)?;
        if dialogue.proves(claim, &finals) {
            return Ok((finals, prover.traffic()));
        }
        Err(judge_kept(claim, kept.as_ref(), dialogue, (&finals, name), abort)?)
    });
    let (finals, traffic) = result.inspect_err(|error| {
        if let Some(info) = info {
            call.failed(info, error);
        }
    })?;
    Ok((finals, call.finish(backend, name, start, traffic, Vec::new())))
}

/// Returns the error for `finals` that a device computed and that do not prove `claim`. If the columns are still on the
/// device (`columns`), the host computes the proof too and compares.
fn judge_kept<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    columns: Option<&Columns<'_, F>>,
    dialogue: &mut TranscriptReplay<'_, F, T>,
    (finals, device): (&Vec<F>, &str),
    abort: Abort<'_>,
) -> Result<Error> {
    let Some(columns) = columns else { return Ok(unproved(device)) };
    let rows = 1 << claim.variables();
    let copy = HostCopy::new(columns, rows, abort)?;
    dialogue.judge(finals, Prover::on_host(claim, &copy.slices(rows), Vec::new()), device, abort)
}
