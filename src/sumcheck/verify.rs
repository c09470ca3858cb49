//! Verifies proofs: it evaluates one polynomial per round.

use super::claim::{Claim, ERROR_CONTEXT};
use super::commitment_transcript::BoundTranscript;
use super::field::SumcheckField;
use super::proof::Proof;
use super::round_poly::RoundPolynomial;
use super::transcript::Transcript;
use super::transcript_frame::Frame;
use crate::{Error, Result};

/// Verifies that `proof` proves `claim` if its finals are the columns' values at the point. The caller must check these
/// values by openings of the commitment to which `transcript` is bound. **Without that, nothing is proved.**
///
/// Returns the point, one coordinate per round, and the finals, one per column. Takes a few multiplications per round.
///
/// # Errors
/// - [`Error::Invalid`]: the claim is malformed.
/// - [`Error::Invalid`]: the proof has another form.
/// - [`Error::Invalid`]: the proof does not prove the claim.
pub fn verify<F: SumcheckField, T: Transcript<F>>(
    claim: &Claim<F>,
    proof: &Proof<F>,
    transcript: BoundTranscript<'_, F, T>,
) -> Result<(Vec<F>, Vec<F>)> {
    claim.check()?;
    proof.check(claim)?;
    let transcript = transcript.transcript;
    claim.observe(transcript);
    let point = observe_messages(&proof.messages, transcript);
    Frame::Finals.observe(transcript, &proof.finals);
    if is_proved(claim, &proof.messages, &point, &proof.finals) {
        Ok((point, proof.finals.clone()))
    } else {
        Err(verification_failed())
    }
}

/// Returns whether `messages` and `finals` prove `claim`, where `point` holds the challenges of the rounds. This is the
/// verifier's last check.
pub(super) fn is_proved<F: SumcheckField>(
    claim: &Claim<F>,
    messages: &[RoundPolynomial<F>],
    point: &[F],
    finals: &[F],
) -> bool {
    let value = last_claim(messages, claim.claimed(), point);
    let claim = claim.to_compute_field();
    let [point, finals] =
        [point, finals].map(|elements| elements.iter().map(|e| e.to_compute_field()).collect::<Vec<_>>());
    claim.eq_at(&point) * claim.evaluate_terms(&finals) == value
}

/// Makes `transcript` observe the `messages` of all rounds, and returns the challenge for each.
pub(super) fn observe_messages<F: SumcheckField>(
    messages: &[RoundPolynomial<F>],
    transcript: &mut impl Transcript<F>,
) -> Vec<F> {
    messages.iter().map(|message| observe_message(message, transcript)).collect()
}

/// Returns the claim after the last of `messages`, where `sum` is the claim before the first and `point` holds the
/// challenges of the rounds.
pub(super) fn last_claim<F: SumcheckField>(messages: &[RoundPolynomial<F>], sum: F, point: &[F]) -> F::Compute {
    messages.iter().zip(point).fold(sum.to_compute_field(), |claim, (message, challenge)| {
        let there = message.coefficients().iter().map(|coefficient| coefficient.to_compute_field()).collect();
        RoundPolynomial::<F::Compute>::new(there).next_claim(claim, challenge.to_compute_field())
    })
}

/// Makes `transcript` observe the `message` of a round, and returns the challenge for it.
pub(super) fn observe_message<F: SumcheckField>(
    message: &RoundPolynomial<F>,
    transcript: &mut impl Transcript<F>,
) -> F {
    Frame::Message.observe(transcript, message.coefficients());
    transcript.challenge("point")
}

/// Returns the error for a proof whose finals do not follow from its messages.
pub(super) fn verification_failed() -> Error {
    Error::invalid(ERROR_CONTEXT, "proof", "finals that the messages lead to", "others")
}
