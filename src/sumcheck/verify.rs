//! The verifier: a polynomial's value a round.

use super::bound::BoundTranscript;
use super::claim::{Claim, PLACE};
use super::field::SumcheckField;
use super::frame::Frame;
use super::message::Message;
use super::proof::Proof;
use super::transcript::Transcript;
use crate::{Error, Result};

/// Verifies a proof but for the values of the columns: the caller has to make sure that they are the finals at the point, by openings
/// of the commitment that `transcript` is bound to. **Without that, nothing is proved.**
///
/// Returns the point, a coordinate for each round, and the finals, one for each column. Takes some products a round.
///
/// # Errors
/// The claim is malformed, the proof is of another form, or it does not prove the claim.
pub fn verify<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    proof: &Proof<F>,
    transcript: BoundTranscript<'_, F, T>,
) -> Result<(Vec<F>, Vec<F>)> {
    claim.check()?;
    proof.check(claim)?;
    let transcript = transcript.transcript;
    claim.observe(transcript);
    let point = say(&proof.messages, transcript);
    Frame::Finals.observe(transcript, &proof.finals);
    if is_proved(claim, &proof.messages, &point, &proof.finals) {
        Ok((point, proof.finals.clone()))
    } else {
        Err(refused())
    }
}

/// Returns whether `messages` and `finals` prove `claim` if `point` are the challenges: the last check of the verifier.
pub(super) fn is_proved<F: SumcheckField>(
    claim: &Claim<F>,
    messages: &[Message<F>],
    point: &[F],
    finals: &[F],
) -> bool {
    let value = last_claim(messages, claim.claimed(), point);
    let claim = claim.to_work();
    let [point, finals] = [point, finals].map(|elements| elements.iter().map(|e| e.to_work()).collect::<Vec<_>>());
    claim.eq_at(&point) * claim.value(&finals) == value
}

/// Tells `transcript` the messages, and returns its challenges.
pub(super) fn say<F: SumcheckField>(messages: &[Message<F>], transcript: &mut impl Transcript<F>) -> Vec<F> {
    messages.iter().map(|message| round(message, transcript)).collect()
}

/// Returns what is claimed after the last of `messages`, if `sum` is claimed before the first and `point` are the challenges.
pub(super) fn last_claim<F: SumcheckField>(messages: &[Message<F>], sum: F, point: &[F]) -> F::Work {
    messages.iter().zip(point).fold(sum.to_work(), |claim, (message, challenge)| {
        let there = message.coefficients().iter().map(|coefficient| coefficient.to_work()).collect();
        Message::<F::Work>::new(there).next_claim(claim, challenge.to_work())
    })
}

/// Tells a transcript a message; the challenge for it.
pub(super) fn round<F: SumcheckField>(message: &Message<F>, transcript: &mut impl Transcript<F>) -> F {
    Frame::Message.observe(transcript, message.coefficients());
    transcript.challenge("point")
}

/// That finals are not what the messages lead to.
pub(super) fn refused() -> Error {
    Error::invalid(PLACE, "proof", "finals that the messages lead to", "others")
}
