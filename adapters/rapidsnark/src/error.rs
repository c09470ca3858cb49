//! Defines the errors of the functions, and their codes.

use std::ffi::c_int;

use proofwarp_circom::Error::WitnessLength;

/// The call did what it should.
pub const PROVER_OK: c_int = 0;
/// The call failed.
pub const PROVER_ERROR: c_int = 1;
/// A buffer is too short for its text.
pub const PROVER_ERROR_SHORT_BUFFER: c_int = 2;
/// The witness has another number of values than the key has signals.
pub const PROVER_INVALID_WITNESS_LENGTH: c_int = 3;

/// The proof is valid.
pub const VERIFIER_VALID_PROOF: c_int = 0;
/// The proof is invalid.
pub const VERIFIER_INVALID_PROOF: c_int = 1;
/// There is no answer, because the arguments are malformed.
pub const VERIFIER_ERROR: c_int = 2;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Tells the argument at fault, the expected value and the actual one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{argument}: expected a pointer, got null")]
    Null { argument: &'static str },
    #[error("{argument}: expected at most {} bytes, got {actual}", isize::MAX)]
    TooLong { argument: &'static str, actual: u64 },
    #[error("{argument}: expected {bytes} bytes of free memory, got fewer")]
    Memory { argument: &'static str, bytes: usize },
    #[error("{argument}: expected UTF-8, got another encoding")]
    Encoding { argument: &'static str },
    #[error(
        "prover_object: expected a handle that groth16_prover_create returned, got {handle:#x}: unknown or destroyed"
    )]
    Handle { handle: usize },
    #[error(
        "buffers are too short: expected {} bytes for the proof and {} for the public signals, got {} and {}",
        needed.proof, needed.public, given.proof, given.public
    )]
    ShortBuffer { needed: Sizes, given: Sizes },
    #[error(transparent)]
    Circom(Box<proofwarp_circom::Error>),
    #[error(transparent)]
    Engine(#[from] proofwarp::Error),
    #[error("internal error: expected a result, got a panic: {text}")]
    Panic { text: String },
}

/// Sizes of the buffers for a proof's texts, with terminators.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub proof: u64,
    pub public: u64,
}

impl From<proofwarp_circom::Error> for Error {
    fn from(error: proofwarp_circom::Error) -> Self {
        Self::Circom(Box::new(error))
    }
}

impl Error {
    /// Returns the code of `prover.h`.
    pub(crate) fn prover_code(&self) -> c_int {
        match self {
            Self::ShortBuffer { .. } => PROVER_ERROR_SHORT_BUFFER,
            Self::Circom(error) if matches!(**error, WitnessLength { .. }) => PROVER_INVALID_WITNESS_LENGTH,
            _ => PROVER_ERROR,
        }
    }
}
