//! The verifier: a polynomial's value a round.

use super::claim::{Claim, PLACE};
use super::field::SumcheckField;
use super::message::Message;
use super::proof::Proof;
use super::transcript::Transcript;
use crate::{Error, Result};

/// Verifies a proof but for the values of the columns: the caller has to make sure that they are the finals at the point.
///
/// Returns the point, a coordinate for each round, and the finals. Takes some products a round.
///
/// # Errors
/// The claim is malformed, the proof is of another form, or it does not prove the claim.
pub fn verify<F: SumcheckField>(
    claim: &Claim<F>,
    proof: &Proof<F>,
    transcript: &mut impl Transcript<F>,
) -> Result<(Vec<F>, Vec<F>)> {
    claim.check()?;
    proof.check(claim)?;
    claim.observe(transcript);
    let (point, value) = replay(&proof.messages, claim.claimed(), transcript);
    transcript.observe("finals", &proof.finals);
    let claim = claim.to_work();
    let [point_there, finals] = [&point, &proof.finals].map(|elements| elements.iter().map(|e| e.to_work()).collect());
    let (point_there, finals): (Vec<F::Work>, Vec<F::Work>) = (point_there, finals);
    if claim.eq_at(&point_there) * claim.value(&finals) == value {
        return Ok((point, proof.finals.clone()));
    }
    Err(refused())
}

/// The challenges of all rounds, and what is claimed after the last.
pub(super) fn replay<F: SumcheckField>(
    messages: &[Message<F>],
    sum: F,
    transcript: &mut impl Transcript<F>,
) -> (Vec<F>, F::Work) {
    let mut claim = sum.to_work();
    let mut point = Vec::with_capacity(messages.len());
    for message in messages {
        let challenge = round(message, transcript);
        let there = message.coefficients().iter().map(|coefficient| coefficient.to_work()).collect();
        claim = Message::<F::Work>::new(there).next_claim(claim, challenge.to_work());
        point.push(challenge);
    }
    (point, claim)
}

/// Tells a transcript a message; the challenge for it.
pub(super) fn round<F: SumcheckField>(message: &Message<F>, transcript: &mut impl Transcript<F>) -> F {
    transcript.observe("message", message.coefficients());
    transcript.challenge("point")
}

/// That finals are not what the messages lead to.
pub(super) fn refused() -> Error {
    Error::invalid(PLACE, "proof", "finals that the messages lead to", "others")
}
