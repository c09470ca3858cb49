//! Drop-in for `halo2-axiom-gpu` 1.0.1: one line under `[patch.crates-io]` lets halo2-base, halo2-ecc and snark-verifier with
//! their feature `cuda` prove on proofwarp.
//!
//! Everything is halo2-axiom's but what proves and makes keys, which is [`proofwarp_halo2`]'s, and [`poly::commitment::Prover`],
//! which also says how polynomials are opened.

pub use halo2_axiom::{SerdeFormat, arithmetic, circuit, dev, fft, halo2curves, transcript};

pub mod plonk;
pub mod poly;
