//! Makes Groth16 proofs over the ranks of a job: many proofs, each by one rank, or one proof by all ranks together.

mod batch;
mod key;
mod quotient;

pub use batch::{OwnedWitness, proof_from_bytes, proof_to_bytes, prove_batch};
pub use key::{ClusterKey, Input, KeyLayout};
