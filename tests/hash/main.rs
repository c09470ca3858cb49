//! Permutations, hashes of rows and Merkle trees, beside Plonky3's own.
#![cfg(feature = "plonky3")]

#[path = "../common/mod.rs"]
mod common;
mod permutations;
mod trees;
