//! Sumcheck on every backend and on the CPU, against sums over the hypercube.

#[path = "../common/mod.rs"]
mod common;

#[cfg(feature = "plonky3")]
mod base;
mod batch;
mod errors;
mod faults;
mod proofs;
mod random;
mod sliced;
mod states;
mod tools;
mod verifier;
