//! Frames the elements that a transcript takes in at once: a tag and a count precede them.
//!
//! Tag and count are elements, so any transcript can tell frames apart, even one that takes in neither labels nor
//! lengths.
#![deny(clippy::arithmetic_side_effects)]

use super::field::SumcheckField;
use super::transcript::Transcript;

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
    pub fn observe<F: SumcheckField>(self, transcript: &mut impl Transcript<F>, elements: &[F]) {
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
