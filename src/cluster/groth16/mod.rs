//! Makes Groth16 proofs over the ranks of a job: many proofs, each by one rank, or one proof by all ranks together.

mod key;
mod layout;
mod many;
mod quotient;

pub use key::{ClusterKey, Input};
pub use layout::KeyLayout;
pub use many::{OwnedWitness, proof_from_bytes, proof_to_bytes, prove_batch};
