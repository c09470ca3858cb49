//! Groth16 proofs of bellperson's circuits by its parameters, byte for byte those of bellperson for the same r and s,
//! with everything from the R1CS products to the sums on the device.
//!
//! [`create_proof`] and the like have the signatures of `bellperson::groth16` and keep the last circuit's matrices and
//! key on the devices; [`Prover`] is the same held by the caller.

pub mod capture;
mod evaluations;
mod ext;
mod key;
mod matrices;
mod prover;
mod verify;

use bellperson::SynthesisError;

pub use evaluations::Evaluations;
pub use ext::{create_proof, create_proof_batch, create_random_proof, create_random_proof_batch};
pub use key::parameters;
pub use matrices::Matrices;
pub use prover::{Assignment, Prover, prove_evaluated};

/// An error of the engine as bellperson's callers know errors.
fn failed(error: proofwarp::Error) -> SynthesisError {
    SynthesisError::IoError(std::io::Error::other(error))
}
