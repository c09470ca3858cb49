//! Binds a transcript to the columns before it takes in a claim.
#![deny(clippy::arithmetic_side_effects)]

use std::marker::PhantomData;

use super::{Frame, MAX_NUMBER, Transcript, pack_bytes};
use crate::sumcheck::claim::ERROR_CONTEXT;
use crate::sumcheck::field::SumcheckField;
use crate::{Error, Result};

/// A transcript that has taken in a commitment to the columns.
///
/// Sumcheck shows that columns with certain values at a random point add up to a sum. It says nothing about who chose
/// the columns, or when. A prover that chooses them after it has seen the point proves any sum. So the transcript takes
/// in a commitment to all columns first, and the verifier checks openings of that commitment at the point.
///
/// If the transcript has taken in the commitment earlier, it takes it in again, which does no harm. For columns that
/// follow from public data, a hash of that data is the commitment.
///
/// ```
/// use proofwarp::field::ghash::Ghash;
/// use proofwarp::sumcheck::{BoundTranscript, HashTranscript};
///
/// let mut transcript = HashTranscript::new(b"example");
/// let root = [7; 32]; // of a Merkle tree over all columns
/// let bound = BoundTranscript::<Ghash, _>::bind_commitment(&mut transcript, &root)?; // for `prove`, or `verify`
/// assert!(BoundTranscript::<Ghash, _>::bind_commitment(&mut transcript, &[]).is_err(), "binds nothing");
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug)]
pub struct BoundTranscript<'t, F, T> {
    pub(crate) transcript: &'t mut T,
    field: PhantomData<fn() -> F>,
}

impl<'t, F: SumcheckField, T: Transcript<F>> BoundTranscript<'t, F, T> {
    /// Binds `transcript` to `commitment`, the bytes of a commitment to all columns, such as a Merkle root or a hash.
    ///
    /// The caller concatenates several commitments into one. Their lengths must be fixed, or stand between them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `commitment` is empty.
    /// - [`Error::Invalid`]: `commitment` is longer than 2^24 − 1 bytes.
    ///
    /// The transcript is unchanged after an error.
    pub fn bind_commitment(transcript: &'t mut T, commitment: &[u8]) -> Result<Self> {
        check_commitment_length("bytes of the commitment", commitment.len())?;
        Frame::Commitment.observe(transcript, &pack_bytes(commitment));
        Ok(Self::new(transcript))
    }

    /// Binds `transcript` to `commitment`, a commitment to all columns in field elements, such as a Poseidon digest.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `commitment` has no element.
    /// - [`Error::Invalid`]: `commitment` has more than 2^24 − 1 elements.
    ///
    /// The transcript is unchanged after an error.
    pub fn bind_commitment_elements(transcript: &'t mut T, commitment: &[F]) -> Result<Self> {
        check_commitment_length("elements of the commitment", commitment.len())?;
        Frame::CommitmentElements.observe(transcript, commitment);
        Ok(Self::new(transcript))
    }

    /// Binds `transcript` to no columns. **A proof for it proves nothing**: its prover can choose columns after the
    /// challenges.
    ///
    /// It is for tests and measurements. A verifier that has a commitment rejects such proofs.
    pub fn insecure_without_commitment(transcript: &'t mut T) -> Self {
        Frame::Unbound.observe(transcript, &[]);
        Self::new(transcript)
    }

    fn new(transcript: &'t mut T) -> Self {
        Self { transcript, field: PhantomData }
    }
}

fn check_commitment_length(what: &str, length: usize) -> Result<()> {
    if (1..=MAX_NUMBER).contains(&length) {
        return Ok(());
    }
    Err(Error::invalid(ERROR_CONTEXT, what, format!("1 to {MAX_NUMBER}"), length))
}
