//! Defines a proof and its bytes, and verifies it: one polynomial is evaluated per round.
#![deny(clippy::arithmetic_side_effects)]

use super::claim::{Claim, ERROR_CONTEXT};
use super::field::SumcheckField;
use super::rounds::RoundPolynomial;
use super::transcript::{BoundTranscript, Frame, Transcript};
use crate::{Error, Result};

/// Holds the messages of all rounds, and each column's value at the point whose coordinates are the challenges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof<F> {
    /// One message per round.
    pub messages: Vec<RoundPolynomial<F>>,
    /// Column values at the point of the challenges, by column number.
    pub finals: Vec<F>,
}

impl<F: SumcheckField> Proof<F> {
    /// Encodes the proof: the messages in the order of rounds, then the finals by column number.
    /// [`SumcheckField::write`] encodes the elements, with nothing between them.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode_proof(&self.messages, &self.finals)
    }

    /// Decodes a proof of `claim` from `bytes`, which [`Self::to_bytes`] encoded.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the claim is malformed.
    /// - [`Error::Invalid`]: `bytes` has another length than a proof of `claim`.
    /// - [`Error::Invalid`]: some bytes encode no element.
    pub fn from_bytes(claim: &Claim<F>, bytes: &[u8]) -> Result<Self> {
        claim.check()?;
        let (messages, finals) =
            decode_proof((claim.variables(), claim.round_degree()), Some(claim.column_count()), bytes)?;
        Ok(Self { messages, finals })
    }

    /// Checks that the proof has the numbers of messages, coefficients and finals that a proof of `claim` has.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a number differs from that of a proof of `claim`.
    pub(super) fn check(&self, claim: &Claim<F>) -> Result<()> {
        check_message_lengths(&self.messages, claim.variables(), claim.round_degree())?;
        if self.finals.len() != claim.column_count() {
            return Err(Error::invalid(ERROR_CONTEXT, "finals of the proof", claim.column_count(), self.finals.len()));
        }
        Ok(())
    }
}

/// Encodes `messages`, then `finals`, with nothing between the elements.
pub(super) fn encode_proof<'a, F: SumcheckField>(
    messages: &'a [RoundPolynomial<F>],
    finals: impl IntoIterator<Item = &'a F>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    messages.iter().flat_map(RoundPolynomial::coefficients).chain(finals).for_each(|element| element.write(&mut bytes));
    bytes
}

/// Decodes `rounds` messages of `degree` coefficients each, then `finals` finals, from `bytes`. `finals` is `None` if
/// their number exceeds the address space.
///
/// # Errors
/// - [`Error::Invalid`]: `finals` is `None`.
/// - [`Error::Invalid`]: `bytes` has another length.
/// - [`Error::Invalid`]: some bytes encode no element.
pub(super) fn decode_proof<F: SumcheckField>(
    (rounds, degree): (u32, usize),
    finals: Option<usize>,
    bytes: &[u8],
) -> Result<(Vec<RoundPolynomial<F>>, Vec<F>)> {
    let coefficients = (rounds as usize).checked_mul(degree);
    let elements = coefficients.zip(finals).and_then(|(coefficients, finals)| coefficients.checked_add(finals));
    let length = elements.and_then(|elements| elements.checked_mul(F::BYTES));
    if length != Some(bytes.len()) {
        let expected = length.map_or_else(|| "no proof of so many columns".to_owned(), |length| length.to_string());
        return Err(Error::invalid(ERROR_CONTEXT, "bytes of the proof", expected, bytes.len()));
    }
    let element = |(number, bytes): (usize, &[u8])| {
        let refused = || Error::invalid(ERROR_CONTEXT, format!("element {number} of the proof"), "below p", "another");
        F::read(bytes).ok_or_else(refused)
    };
    let elements = bytes.chunks(F::BYTES).enumerate().map(element).collect::<Result<Vec<F>>>()?;
    let (messages, finals) = elements.split_at(coefficients.unwrap_or_default());
    let messages = messages.chunks(degree).map(|message| RoundPolynomial::new(message.to_vec())).collect();
    Ok((messages, finals.to_vec()))
}

/// Checks that there are `rounds` messages of `degree` coefficients each.
///
/// # Errors
/// - [`Error::Invalid`]: there are more or fewer messages than `rounds`.
/// - [`Error::Invalid`]: a message has another degree than `degree`.
pub(super) fn check_message_lengths<F: SumcheckField>(
    messages: &[RoundPolynomial<F>],
    rounds: u32,
    degree: usize,
) -> Result<()> {
    if messages.len() != rounds as usize {
        return Err(Error::invalid(ERROR_CONTEXT, "messages of the proof", rounds, messages.len()));
    }
    match messages.iter().position(|message| message.coefficients().len() != degree) {
        None => Ok(()),
        Some(round) => {
            let actual = messages[round].coefficients().len();
            Err(Error::invalid(ERROR_CONTEXT, format!("coefficients of message {round}"), degree, actual))
        }
    }
}

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
#[allow(clippy::arithmetic_side_effects, reason = "a product of field elements")]
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
    Error::invalid(
        ERROR_CONTEXT,
        "proof",
        "finals that the messages lead to",
        "others: sum, proof or transcript differ from the prover's",
    )
}
