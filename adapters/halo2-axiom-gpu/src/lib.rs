//! Drop-in replacement for `halo2-axiom-gpu` 1.0.1: one line under `[patch.crates-io]` lets halo2-base, halo2-ecc and
//! snark-verifier with their feature `cuda` prove on proofwarp.
//!
//! Everything is halo2-axiom's, with two exceptions. [`proofwarp_halo2`] makes proofs and keys, and
//! [`poly::commitment::Prover`] also says how polynomials are opened.
//!
//! With the feature `device-advice`, advice columns are in device memory of openvm-cuda-common, as in the stock crate.
//! The module `cuda` has the stream that they are written on. Proofs use these columns where they are.

#![deny(unreachable_pub)]

pub use halo2_axiom::{SerdeFormat, arithmetic, circuit, dev, fft, halo2curves, transcript};

#[cfg(feature = "device-advice")]
pub mod cuda;
pub mod plonk;
pub mod poly;
