//! Circuits made from descriptions, with witnesses that satisfy them, and both crates' functions around them.

mod circuit;
mod proofs;
mod shape;

pub use circuit::Described;
pub use proofs::{instances_of, keys, prove, prove_on, prove_with, setup, slices, verify, verify_on};
pub use shape::{Gate, Lookup, Shape, TableKind, Term};
