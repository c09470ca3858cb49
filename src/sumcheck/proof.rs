//! A proof, and its bytes.
#![deny(clippy::arithmetic_side_effects)]

use super::claim::{Claim, PLACE};
use super::field::SumcheckField;
use super::message::Message;
use crate::{Error, Result};

/// The messages of all rounds, and each column's value at the point that the challenges are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof<F> {
    /// A message a round.
    pub messages: Vec<Message<F>>,
    /// Columns at the point, by their numbers.
    pub finals: Vec<F>,
}

impl<F: SumcheckField> Proof<F> {
    /// Messages one after the other, then the finals; elements as [`SumcheckField::write`] does it, nothing between them.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes(&self.messages, &self.finals)
    }

    /// Reads the bytes of a proof of `claim`.
    ///
    /// # Errors
    /// There are more or fewer bytes, or some are no element.
    pub fn from_bytes(claim: &Claim<F>, bytes: &[u8]) -> Result<Self> {
        claim.check()?;
        let (messages, finals) = read((claim.variables(), claim.round_degree()), Some(claim.columns()), bytes)?;
        Ok(Self { messages, finals })
    }

    /// # Errors
    /// Messages, coefficients or finals are more or fewer than a proof of the claim has.
    pub(super) fn check(&self, claim: &Claim<F>) -> Result<()> {
        check_rounds(&self.messages, claim.variables(), claim.round_degree())?;
        if self.finals.len() != claim.columns() {
            return Err(Error::invalid(PLACE, "finals of the proof", claim.columns(), self.finals.len()));
        }
        Ok(())
    }
}

/// Returns the bytes of messages and finals, nothing between them.
pub(super) fn bytes<'a, F: SumcheckField>(
    messages: &'a [Message<F>],
    finals: impl IntoIterator<Item = &'a F>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    messages.iter().flat_map(Message::coefficients).chain(finals).for_each(|element| element.write(&mut bytes));
    bytes
}

/// Reads the messages of `rounds` rounds of a degree, and `finals` finals; none if these are more than memory has addresses.
///
/// # Errors
/// There are more or fewer bytes, or some are no element.
pub(super) fn read<F: SumcheckField>(
    (rounds, degree): (u32, usize),
    finals: Option<usize>,
    bytes: &[u8],
) -> Result<(Vec<Message<F>>, Vec<F>)> {
    let coefficients = (rounds as usize).checked_mul(degree);
    let elements = coefficients.zip(finals).and_then(|(coefficients, finals)| coefficients.checked_add(finals));
    let length = elements.and_then(|elements| elements.checked_mul(F::BYTES));
    if length != Some(bytes.len()) {
        let expected = length.map_or_else(|| "no proof of so many columns".to_owned(), |length| length.to_string());
        return Err(Error::invalid(PLACE, "bytes of the proof", expected, bytes.len()));
    }
    let element = |(number, bytes): (usize, &[u8])| {
        let refused = || Error::invalid(PLACE, format!("element {number} of the proof"), "below p", "another");
        F::read(bytes).ok_or_else(refused)
    };
    let elements = bytes.chunks(F::BYTES).enumerate().map(element).collect::<Result<Vec<F>>>()?;
    let (messages, finals) = elements.split_at(coefficients.unwrap_or_default());
    let messages = messages.chunks(degree).map(|message| Message::new(message.to_vec())).collect();
    Ok((messages, finals.to_vec()))
}

/// # Errors
/// There are not so many rounds, or one has another degree.
pub(super) fn check_rounds<F: SumcheckField>(messages: &[Message<F>], rounds: u32, degree: usize) -> Result<()> {
    if messages.len() != rounds as usize {
        return Err(Error::invalid(PLACE, "messages of the proof", rounds, messages.len()));
    }
    match messages.iter().position(|message| message.coefficients().len() != degree) {
        None => Ok(()),
        Some(round) => {
            let actual = messages[round].coefficients().len();
            Err(Error::invalid(PLACE, format!("coefficients of message {round}"), degree, actual))
        }
    }
}
