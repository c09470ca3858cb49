//! Sumcheck on every backend and on the CPU, against sums over the hypercube.

#[path = "../common/mod.rs"]
mod common;

mod attacks;
#[cfg(feature = "plonky3")]
mod base;
mod batch;
mod errors;
mod faults;
mod faulty;
mod proofs;
mod random;
mod replay;
mod sliced;
mod states;
mod tools;
mod vectors;
mod verifier;
