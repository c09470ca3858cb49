//! Groth16 proofs of bellperson's circuits by its parameters, byte for byte those of bellperson for the same r and s,
//! with everything from the R1CS products to the sums on the device.
//!
//! [`groth16`] stands in for `bellperson::groth16`: the same names, of which those that prove are these here. They share
//! devices with other processes by bellperson's lock files, and make way for proofs of high priority as bellperson's
//! do, without losing what is done; they keep the last circuits' matrices and keys on the devices. [`Prover`] is one
//! of those held by the caller, without locks.

mod cache;
mod call;
pub mod capture;
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
/// Later circuits of a key and a Rust type are proved by the matrices of the first, without being asked for their terms.
/// These matrices are taken only from a circuit whose proof verified, and relied on only once a second circuit, proved by
/// its own terms until then, had the same values and a proof that verified: nothing shows of it but the time of a key's
/// first two proofs. What that cannot tell: a type whose constraints are not always the key's, where the first two
/// witnesses satisfy both the key's and the others because they are zero wherever these differ. Later proofs of it may
/// not verify; [`clear_key_cache`] starts over, and so does a proof that `PROOFWARP_VERIFY=1` refuses.
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
