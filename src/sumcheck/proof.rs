//! A proof, and its bytes.

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
        let messages = self.messages.iter().flat_map(Message::coefficients);
        let mut bytes = Vec::new();
        messages.chain(&self.finals).for_each(|element| element.write(&mut bytes));
        bytes
    }

    /// Reads the bytes of a proof of this claim over so many columns.
    ///
    /// # Errors
    /// There are more or fewer bytes, or some are no element.
    pub fn from_bytes(claim: &Claim<F>, columns: usize, bytes: &[u8]) -> Result<Self> {
        claim.check()?;
        let (rounds, degree) = (claim.variables() as usize, claim.round_degree());
        let expected = (rounds * degree + columns) * F::BYTES;
        if bytes.len() != expected {
            return Err(Error::invalid(PLACE, "bytes of the proof", expected, bytes.len()));
        }
        let element = |(number, bytes): (usize, &[u8])| {
            let refused = || Error::invalid(PLACE, format!("element {number} of the proof"), "below p", "another");
            F::read(bytes).ok_or_else(refused)
        };
        let elements = bytes.chunks(F::BYTES).enumerate().map(element).collect::<Result<Vec<F>>>()?;
        let (messages, finals) = elements.split_at(rounds * degree);
        let messages = messages.chunks(degree).map(|message| Message::new(message.to_vec())).collect();
        Ok(Self { messages, finals: finals.to_vec() })
    }

    /// # Errors
    /// Messages or coefficients are more or fewer than a proof of the claim has, or finals fewer than it has columns.
    pub(super) fn check(&self, claim: &Claim<F>) -> Result<()> {
        check_rounds(&self.messages, claim.variables(), claim.round_degree())?;
        if self.finals.len() < claim.columns() {
            let expected = format!("at least {}", claim.columns());
            return Err(Error::invalid(PLACE, "finals of the proof", expected, self.finals.len()));
        }
        Ok(())
    }
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
