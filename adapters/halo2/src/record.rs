//! Records the messages and challenges of a proof in their order, and repeats them through transcripts.

use std::io;
use std::slice::Iter;

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::transcript::{EncodedChallenge, Transcript, TranscriptRead, TranscriptWrite};

/// Holds one message of a proof, or one challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Point(G1Affine),
    Scalar(Fr),
    Challenge(Fr),
}

/// Holds all messages and challenges of one proof in order.
#[derive(Debug, Default)]
pub(crate) struct Record(Vec<Entry>);

impl Record {
    pub(crate) fn push_entry(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Returns the number of messages, without challenges.
    pub(crate) fn message_count(&self) -> usize {
        self.0.iter().filter(|entry| !matches!(entry, Entry::Challenge(_))).count()
    }
}

/// Holds a recorded challenge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplayedChallenge(Fr);

impl EncodedChallenge<G1Affine> for ReplayedChallenge {
    type Input = Fr;

    fn new(challenge: &Fr) -> Self {
        Self(*challenge)
    }

    fn get_scalar(&self) -> Fr {
        self.0
    }
}

/// A transcript that gives a verifier the messages and challenges of a record, or compares a second prover's messages
/// with the record. It does not hash values, because the record holds the challenges.
pub(crate) struct ReplayTranscript<'r> {
    entries: Iter<'r, Entry>,
    /// The challenge after the last entry, which a prover never squeezes.
    last: Fr,
    /// Number of messages given or compared so far.
    messages: usize,
    /// Index of the first message that differs from the record.
    differs: Option<usize>,
}

impl<'r> ReplayTranscript<'r> {
    pub(crate) fn new(record: &'r Record, last: Fr) -> Self {
        Self { entries: record.0.iter(), last, messages: 0, differs: None }
    }

    /// Returns the index, from 0 on, of the first message that differs from the record, or `None` if none does.
    pub(crate) fn first_difference_index(&self) -> Option<usize> {
        self.differs
    }

    /// Returns whether all entries of the record have been repeated without a difference.
    pub(crate) fn is_fully_replayed(&self) -> bool {
        self.entries.len() == 0 && self.differs.is_none()
    }

    fn record_mismatch(&mut self, expected: &str) -> io::Error {
        self.differs.get_or_insert(self.messages);
        io::Error::other(format!("message {}: expected {expected}, got another", self.messages))
    }

    fn compare_next_entry(&mut self, entry: Entry) -> io::Result<()> {
        match self.entries.next() {
            Some(recorded) if *recorded == entry => {
                self.messages += 1;
                Ok(())
            }
            _ => Err(self.record_mismatch("the recorded one")),
        }
    }
}

impl Transcript<G1Affine, ReplayedChallenge> for ReplayTranscript<'_> {
    fn squeeze_challenge(&mut self) -> ReplayedChallenge {
        match self.entries.next() {
            Some(Entry::Challenge(challenge)) => ReplayedChallenge(*challenge),
            None => ReplayedChallenge(self.last),
            Some(_) => {
                self.differs.get_or_insert(self.messages);
                ReplayedChallenge(Fr::ZERO)
            }
        }
    }

    fn common_point(&mut self, _: G1Affine) -> io::Result<()> {
        Ok(())
    }

    fn common_scalar(&mut self, _: Fr) -> io::Result<()> {
        Ok(())
    }
}

impl TranscriptRead<G1Affine, ReplayedChallenge> for ReplayTranscript<'_> {
    fn read_point(&mut self) -> io::Result<G1Affine> {
        match self.entries.next() {
            Some(Entry::Point(point)) => {
                self.messages += 1;
                Ok(*point)
            }
            _ => Err(self.record_mismatch("a point")),
        }
    }

    fn read_scalar(&mut self) -> io::Result<Fr> {
        match self.entries.next() {
            Some(Entry::Scalar(scalar)) => {
                self.messages += 1;
                Ok(*scalar)
            }
            _ => Err(self.record_mismatch("a scalar")),
        }
    }
}

impl TranscriptWrite<G1Affine, ReplayedChallenge> for ReplayTranscript<'_> {
    fn write_point(&mut self, point: G1Affine) -> io::Result<()> {
        self.compare_next_entry(Entry::Point(point))
    }

    fn write_scalar(&mut self, scalar: Fr) -> io::Result<()> {
        self.compare_next_entry(Entry::Scalar(scalar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let entries = [1, 2].map(|value| Entry::Scalar(Fr::from(value)));
        Record(vec![entries[0], Entry::Challenge(Fr::from(7)), Entry::Point(G1Affine::generator()), entries[1]])
    }

    #[test]
    fn a_verifier_gets_what_was_recorded() {
        let record = record();
        let mut transcript = ReplayTranscript::new(&record, Fr::from(9));
        assert_eq!(transcript.read_scalar().expect("a scalar"), Fr::from(1));
        assert_eq!(transcript.squeeze_challenge().get_scalar(), Fr::from(7));
        assert_eq!(transcript.read_point().expect("a point"), G1Affine::generator());
        assert!(!transcript.is_fully_replayed());
        assert_eq!(transcript.read_scalar().expect("a scalar"), Fr::from(2));
        assert_eq!(transcript.squeeze_challenge().get_scalar(), Fr::from(9));
        assert!(transcript.is_fully_replayed() && transcript.read_scalar().is_err() && !transcript.is_fully_replayed());
        assert_eq!(record.message_count(), 3);
    }

    #[test]
    fn another_message_is_found() {
        let record = record();
        let mut transcript = ReplayTranscript::new(&record, Fr::ZERO);
        transcript.write_scalar(Fr::from(1)).expect("the same");
        transcript.squeeze_challenge();
        assert!(transcript.write_point(-G1Affine::generator()).is_err());
        assert_eq!(transcript.first_difference_index(), Some(1));
        // A challenge is squeezed in place of a message, and a point is read in place of a scalar.
        let mut transcript = ReplayTranscript::new(&record, Fr::ZERO);
        transcript.squeeze_challenge();
        assert_eq!(transcript.first_difference_index(), Some(0));
        assert!(ReplayTranscript::new(&record, Fr::ZERO).read_point().is_err());
    }
}
