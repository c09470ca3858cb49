//! Computes Groth16 proofs for bellperson circuits and parameters on the device, from the transforms to the MSMs. For
//! the same r and s the bytes equal bellperson's.
//!
//! [`groth16`] re-exports `bellperson::groth16` and replaces its proving functions. These share devices with other
//! processes through bellperson's lock files. They make way for high-priority proofs as bellperson's do, but without
//! losing finished work. They keep the most recently used keys on the devices. [`Prover`] holds a key with a circuit's
//! matrices for the caller: the device computes the R1CS products too, and no locks are taken.

#![deny(unreachable_pub)]

mod api;
mod cache;
mod cached_prover;
mod device_lease;
mod encoded;
mod evaluations;
mod file_identity;
mod key;
mod locks;
mod mapped_params;
mod matrices;
mod prover;
pub mod recorder;
mod request;
mod verify;

use bellperson::SynthesisError;

pub use api::{
    create_proof, create_proof_batch, create_proof_batch_in_priority, create_proof_in_priority, create_random_proof,
    create_random_proof_batch, create_random_proof_batch_in_priority, create_random_proof_in_priority,
};
pub use cache::{KeyCache, clear_key_cache, key_cache, limit_key_cache};
pub use evaluations::Evaluations;
pub use key::parameters;
pub use matrices::Matrices;
pub use prover::{Assignment, Prover, prove_evaluated};

/// Re-exports `bellperson::groth16` with this crate's proving functions; import it in place of bellperson's module.
///
/// A circuit's proof depends neither on the other circuits of its batch nor on earlier proofs. If the circuit belongs
/// to the key and its witness satisfies it, the proof equals bellperson's for the same r and s. Otherwise the proof
/// does not verify, as with bellperson. If the number of constraints or variables shows that the circuit is another
/// one, the call returns an error. With `PROOFWARP_VERIFY=1`, every proof that does not verify is an error.
///
/// Only a key's points stay on the devices between calls. Each circuit is asked for its constraints' terms, which takes
/// as long as with bellperson. If all circuits have the same constraints, use a [`Prover`], which asks for the terms
/// once.
pub mod groth16 {
    pub use bellperson::groth16::*;

    pub use crate::api::{
        create_proof, create_proof_batch, create_proof_batch_in_priority, create_proof_in_priority,
        create_random_proof, create_random_proof_batch, create_random_proof_batch_in_priority,
        create_random_proof_in_priority,
    };
}

/// Converts an `error` of the engine to bellperson's error type.
fn to_synthesis_error(error: proofwarp::Error) -> SynthesisError {
    SynthesisError::IoError(std::io::Error::other(error))
}

/// Re-exports items of [`recorder`] under their names of earlier versions.
#[doc(hidden)]
pub mod capture {
    pub use crate::recorder::{
        ConstraintCount as Count, ConstraintSink as Record, SynthesisRecorder as Capture, Values,
    };
}
