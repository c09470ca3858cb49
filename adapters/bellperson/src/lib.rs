//! Groth16 proofs of bellperson's circuits by its parameters, byte for byte those of bellperson for the same r and s,
//! with everything from the transforms to the sums on the device.
//!
//! [`groth16`] stands in for `bellperson::groth16`: the same names, of which those that prove are these here. They share
//! devices with other processes by bellperson's lock files, and make way for proofs of high priority as bellperson's
//! do, without losing what is done; they keep the last keys on the devices. [`Prover`] is a key with a circuit's matrices,
//! held by the caller: the device computes the R1CS products too, and there are no locks.

mod cache;
mod call;
pub mod capture;
mod cleared;
mod encoded;
mod evaluations;
mod ext;
mod held;
mod identity;
mod key;
mod locks;
mod mapped;
mod matrices;
mod prover;
mod turn;
mod verify;

use bellperson::SynthesisError;

pub use cache::{KeyCache, clear_key_cache, key_cache, limit_key_cache};
pub use evaluations::Evaluations;
pub use ext::{
    create_proof, create_proof_batch, create_proof_batch_in_priority, create_proof_in_priority, create_random_proof,
    create_random_proof_batch, create_random_proof_batch_in_priority, create_random_proof_in_priority,
};
pub use key::parameters;
pub use matrices::Matrices;
pub use prover::{Assignment, Prover, prove_evaluated};

/// All of `bellperson::groth16`, with the functions of this crate that prove: to be imported in its place.
///
/// What a circuit gets depends neither on the others of its batch nor on what was proved before. A circuit of the key
/// whose witness satisfies it gets bellperson's proof for the same r and s. Another one, or one whose witness does not
/// satisfy it, gets a proof that does not verify, as with bellperson, or an error where its numbers of constraints or
/// variables tell that it is another; with `PROOFWARP_VERIFY=1` it gets an error always.
///
/// Of a key only its points stay on the devices between calls. Each circuit is asked for its constraints' terms, which
/// takes as long as with bellperson. Who knows that all of his circuits have the same constraints proves by a [`Prover`],
/// which asks for them once.
pub mod groth16 {
    pub use bellperson::groth16::*;

    pub use crate::ext::{
        create_proof, create_proof_batch, create_proof_batch_in_priority, create_proof_in_priority,
        create_random_proof, create_random_proof_batch, create_random_proof_batch_in_priority,
        create_random_proof_in_priority,
    };
}

/// An error of the engine as bellperson's callers know errors.
fn failed(error: proofwarp::Error) -> SynthesisError {
    SynthesisError::IoError(std::io::Error::other(error))
}
