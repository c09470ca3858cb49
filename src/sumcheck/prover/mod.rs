//! Proves claims: round by round, whole proofs against a transcript, and several claims as one.

mod batch;
mod failover;
pub(super) mod prove;
mod round_by_round;
mod round_engine;

pub use batch::{BatchProof, ClaimBatch};
pub use prove::{prove, prove_with};
pub use round_by_round::Prover;
