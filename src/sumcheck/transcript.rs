//! Derives challenges from the messages of a prover (Fiat and Shamir).

use sha2::{Digest, Sha256};

use super::field::SumcheckField;

/// Restores a transcript to a saved state when it is called.
pub type Checkpoint<T> = Box<dyn FnOnce(&mut T)>;

/// Represents a transcript that turns messages into challenges (Fiat and Shamir). Prover and verifier start with equal
/// transcripts, and make equal calls.
///
/// [`BoundTranscript`](super::BoundTranscript) binds a transcript to a commitment to the columns before a proof.
pub trait Transcript<F> {
    /// Takes in `elements` under the name `label`. All later challenges depend on them.
    fn observe(&mut self, label: &str, elements: &[F]);

    /// Returns a challenge, under the name `label`, that depends on everything that the transcript has taken in.
    fn challenge(&mut self, label: &str) -> F;

    /// Saves the state, and returns a function that restores it. If a device computes a wrong message, a proof starts
    /// again from this state.
    ///
    /// The default is `None`: the transcript cannot go back, and a wrong message is an error.
    fn checkpoint(&self) -> Option<Checkpoint<Self>>
    where
        Self: Sized,
    {
        None
    }
}

impl<F, T: Transcript<F> + ?Sized> Transcript<F> for &mut T {
    fn observe(&mut self, label: &str, elements: &[F]) {
        (**self).observe(label, elements);
    }

    fn challenge(&mut self, label: &str) -> F {
        (**self).challenge(label)
    }
}

/// A transcript that uses SHA-256. Each message is hashed with the state before it. The hash covers the kind of
/// message, the label and the elements. The label and the elements each follow their length in bytes.
/// [`SumcheckField::write`] encodes elements. `docs/sumcheck.md` has the format byte by byte.
///
/// ```
/// use proofwarp::field::ghash::Ghash;
/// use proofwarp::sumcheck::{HashTranscript, Transcript};
///
/// let mut transcript = HashTranscript::new(b"example");
/// transcript.observe("sum", &[Ghash(7)]);
/// let challenge: Ghash = transcript.challenge("point");
/// assert_ne!(challenge, transcript.challenge("point"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashTranscript {
    state: [u8; 32],
}

/// Marks hashes that take in elements.
const OBSERVED: u8 = 0;
/// Marks hashes that give the first 32 bytes of a challenge.
const CHALLENGE: u8 = 1;
/// Marks hashes that give the last 32 bytes of a challenge.
const MORE: u8 = 2;

impl HashTranscript {
    /// Starts a transcript for the protocol that has the name `protocol`.
    pub fn new(protocol: &[u8]) -> Self {
        let mut transcript = Self { state: [0; 32] };
        transcript.state = transcript.hash(OBSERVED, "protocol", protocol);
        transcript
    }

    fn hash(&self, kind: u8, label: &str, bytes: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.state);
        hash.update([kind]);
        for part in [label.as_bytes(), bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

impl<F: SumcheckField> Transcript<F> for HashTranscript {
    fn observe(&mut self, label: &str, elements: &[F]) {
        let mut bytes = Vec::new();
        for element in elements {
            element.write(&mut bytes);
        }
        self.state = self.hash(OBSERVED, label, &bytes);
    }

    fn challenge(&mut self, label: &str) -> F {
        self.state = self.hash(CHALLENGE, label, &[]);
        let more = self.hash(MORE, label, &[]);
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&self.state);
        bytes[32..].copy_from_slice(&more);
        F::from_uniform(&bytes)
    }

    fn checkpoint(&self) -> Option<Checkpoint<Self>> {
        let saved = self.clone();
        Some(Box::new(move |transcript| *transcript = saved))
    }
}
