//! Drop-in replacement for `halo2-axiom-gpu` 1.0.1: one line under `[patch.crates-io]` lets halo2-base, halo2-ecc and
//! snark-verifier with their feature `cuda` prove on proofwarp.
//!
//! Everything is halo2-axiom's, with two exceptions. [`proofwarp_halo2`] makes proofs and keys, and
//! [`poly::commitment::Prover`] also says how polynomials are opened.

#![deny(unreachable_pub)]

pub use halo2_axiom::{SerdeFormat, arithmetic, circuit, dev, fft, halo2curves, transcript};

pub mod plonk;
pub mod poly;
