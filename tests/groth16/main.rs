//! Groth16 proofs of the resident pipeline against bellperson's own, byte for byte, and what it does when it cannot make
//! them.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/random_parameters.rs"]
mod random_parameters;
#[path = "../common/random_r1cs.rs"]
mod random_r1cs;

mod arguments;
mod blinding;
mod circuit_files;
mod circuits;
mod devices;
mod equality;
mod faults;
mod files;
mod mapped;
mod memory;
mod random;
mod sharing;
mod verifier;
mod verify;
