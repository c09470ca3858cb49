//! Whole proofs.

use std::cell::RefCell;
use std::time::Instant;

use super::claim::Claim;
use super::columns::{Columns, Slices};
use super::field::SumcheckField;
use super::message::Message;
use super::plan::Options;
use super::proof::Proof;
use super::prover::{Prover, call, check, device_for};
use super::transcript::Transcript;
use super::verify::round;
use crate::backend::{Abort, Device, Traffic, guarded};
use crate::{Accelerator, Report, Result};

/// Proves a claim. The transcript takes in the claim, then a message a round, then the finals.
///
/// Takes as many products as rows times a little more than the terms have factors, on the accelerator's first device, or the
/// one that the columns lie on. Columns in the host's memory, and such as are kept, stay as they are.
///
/// # Errors
/// The claim is malformed or its sum is not the columns', lengths or number of columns are others, the hook aborted, or a
/// device that is forced or that has the columns has too little memory or failed; the transcript is not to be used then.
pub fn prove<F: SumcheckField>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    transcript: &mut impl Transcript<F>,
    abort: Abort<'_>,
) -> Result<(Proof<F>, Report)> {
    prove_with(accelerator, claim, columns, transcript, &Options::default(), abort)
}

/// As [`prove`], with choices of one's own.
///
/// # Errors
/// As [`prove`], or a path that is asked for is not there.
pub fn prove_with<F: SumcheckField>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    transcript: &mut impl Transcript<F>,
    options: &Options,
    abort: Abort<'_>,
) -> Result<(Proof<F>, Report)> {
    check(claim, &columns, options)?;
    claim.observe(transcript);
    let mut dialogue = Dialogue { transcript, messages: Vec::new(), challenges: Vec::new() };
    let (finals, report) = guarded(abort, |abort| match columns.slices() {
        Some(slices) => from_host(accelerator, claim, &slices, &mut dialogue, options, abort),
        None => where_they_lie(claim, columns, &mut dialogue, options, abort),
    })?;
    let messages = dialogue.messages;
    transcript.observe("finals", &finals);
    Ok((Proof { messages, finals }, report))
}

/// What was said so far. A prover that takes over after another failed says the same, and gets the same answers.
struct Dialogue<'t, F, T> {
    transcript: &'t mut T,
    messages: Vec<Message<F>>,
    challenges: Vec<F>,
}

impl<F: SumcheckField, T: Transcript<F>> Dialogue<'_, F, T> {
    fn answer(&mut self, number: usize, message: Message<F>) -> F {
        if let Some(challenge) = self.challenges.get(number) {
            return *challenge;
        }
        let challenge = round(&message, self.transcript);
        self.messages.push(message);
        self.challenges.push(challenge);
        challenge
    }

    fn finals(&mut self, prover: &mut Prover<'_, F>, abort: Abort<'_>) -> Result<Vec<F>> {
        let mut number = 0;
        while let Some(message) = prover.message_unless(abort)? {
            prover.fold(self.answer(number, message))?;
            number += 1;
        }
        prover.finals(abort)
    }
}

fn from_host<F: SumcheckField, T: Transcript<F>>(
    accelerator: &Accelerator,
    claim: &Claim<F>,
    columns: &Slices<'_, F>,
    dialogue: &mut Dialogue<'_, F, T>,
    options: &Options,
    abort: Abort<'_>,
) -> Result<(Vec<F>, Report)> {
    let devices = device_for(accelerator, claim, options).into_iter().cloned().collect();
    // Both closures want it; only one runs at a time.
    let dialogue = RefCell::new(dialogue);
    accelerator.on_devices(devices).run(
        call(claim, columns.len()),
        |devices| {
            let mut prover = Prover::on_device(&devices[0], claim, columns.columns(), options, abort)?;
            let finals = dialogue.borrow_mut().finals(&mut prover, abort)?;
            Ok((finals, prover.traffic()))
        },
        || dialogue.borrow_mut().finals(&mut Prover::on_host(claim, columns, Vec::new()), abort),
    )
}

/// There is no way around a device that has the columns.
fn where_they_lie<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    columns: Columns<'_, F>,
    dialogue: &mut Dialogue<'_, F, T>,
    options: &Options,
    abort: Abort<'_>,
) -> Result<(Vec<F>, Report)> {
    let (start, call) = (Instant::now(), call(claim, columns.count(claim.variables())));
    let device = columns.device_of();
    let result = Prover::where_they_lie(claim, columns, options, abort).and_then(|mut prover| {
        let finals = dialogue.finals(&mut prover, abort)?;
        Ok((finals, prover.traffic()))
    });
    let info = device.as_deref().map(Device::info);
    let (finals, traffic): (Vec<F>, Traffic) = result.inspect_err(|error| {
        if let Some(info) = info {
            call.failed(info, error);
        }
    })?;
    let (backend, name) = info.map_or((crate::BackendKind::Cpu, "host"), |info| (info.backend, info.name.as_str()));
    Ok((finals, call.done(backend, name, start, traffic, Vec::new())))
}
