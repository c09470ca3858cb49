//! Derives challenges from the messages of a prover (Fiat and Shamir). A tag and a count precede the elements that a
//! transcript takes in at once.
//!
//! Tag and count are elements, so any transcript can tell frames apart, even one that takes in neither labels nor
//! lengths.
#![deny(clippy::arithmetic_side_effects)]

mod commitment;
#[cfg(feature = "plonky3")]
mod plonky3;

use sha2::{Digest, Sha256};

pub use commitment::BoundTranscript;
#[cfg(feature = "plonky3")]
pub use plonky3::Challenger;

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

/// Largest count or number in a frame, 2^24 − 1. All numbers up to it are different elements of every field.
pub(super) const MAX_NUMBER: usize = (1 << 24) - 1;

/// Bytes packed into one element, 3: [`MAX_NUMBER`] has as many.
const PACKED: usize = 3;

/// Names the kinds of frames. A frame is a tag, a count and elements, which a transcript takes in at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    Unbound,
    Commitment,
    CommitmentElements,
    Batch,
    Claim,
    Term,
    Eq,
    Sum,
    Message,
    Finals,
}

impl Frame {
    /// Returns the frame's tag, a number, and its label for the transcript.
    fn tag_and_label(self) -> (usize, &'static str) {
        match self {
            Self::Unbound => (0, "unbound"),
            Self::Commitment => (1, "commitment"),
            Self::CommitmentElements => (2, "commitment elements"),
            Self::Batch => (3, "batch"),
            Self::Claim => (4, "claim"),
            Self::Term => (5, "term"),
            Self::Eq => (6, "eq"),
            Self::Sum => (7, "sum"),
            Self::Message => (8, "message"),
            Self::Finals => (9, "finals"),
        }
    }

    /// Makes `transcript` take in the frame: its tag, the number of `elements`, and the elements.
    pub(super) fn observe<F: SumcheckField>(self, transcript: &mut impl Transcript<F>, elements: &[F]) {
        let (tag, label) = self.tag_and_label();
        let framed = [&[encode_number(tag), encode_number(elements.len())], elements].concat();
        transcript.observe(label, &framed);
    }
}

/// Returns the element that stands for `number`, which is at most [`MAX_NUMBER`].
pub(super) fn encode_number<F: SumcheckField>(number: usize) -> F {
    F::from_number(number as u64)
}

/// Packs `bytes` into elements: first their count, then one element for each three bytes, which are a little-endian
/// number.
pub(super) fn pack_bytes<F: SumcheckField>(bytes: &[u8]) -> Vec<F> {
    let pack = |part: &[u8]| F::from_number(part.iter().rfold(0, |number, byte| number << 8 | u64::from(*byte)));
    [encode_number(bytes.len())].into_iter().chain(bytes.chunks(PACKED).map(pack)).collect()
}
