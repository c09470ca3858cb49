//! Proves circom's circuits from `.zkey` and `.wtns` files, on CUDA, OpenCL or the CPU, and verifies proofs.
//!
//! | type | file |
//! |---|---|
//! | [`Zkey`], [`ProvingKey`] | `.zkey`: a Groth16 proving key of BN254 or BLS12-381 |
//! | [`Witness`] | `.wtns`: the values of a circuit's signals |
//! | [`Proof`] | `proof.json` |
//! | [`VerificationKey`] | `verification_key.json` |
//! | [`public_from_json`], [`public_to_json`] | `public.json` |
//!
//! Both binary files are checked when they are opened. No length, index or coordinate is used before its check, and no
//! allocation exceeds the file's size. Points are checked against their curve's equation when they are converted
//! ([`RawPoints::to_points`]), or all at once by [`Zkey::check_points`].
//!
//! The features `ark-0_5` and `ark-0_6` add modules of these names, which prove circuits of arkworks with keys of
//! `ark-groth16`.
//!
//! ```
//! use proofwarp_circom::{JsonText, verify_json};
//!
//! # fn main() {
//! let [key, public, proof] = [("verification_key.json", "{}"), ("public.json", "[]"), ("proof.json", "{}")];
//! let [key, public, proof] = [key, public, proof].map(|(file, text)| JsonText { file, text });
//! let error = verify_json(key, public, proof).expect_err("a key without points");
//! assert!(error.to_string().starts_with("verification_key.json: "), "{error}");
//! # }
//! ```

// docs.rs shows the feature that each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unreachable_pub)]

#[cfg(any(feature = "ark-0_5", feature = "ark-0_6"))]
mod ark;
#[cfg(feature = "ark-0_5")]
pub mod ark_0_5;
#[cfg(feature = "ark-0_6")]
pub mod ark_0_6;
mod binary_files;
mod curves;
mod error;
mod groth16;
mod json;
mod prover;
mod verify;
mod witness;
mod zkey;

pub use binary_files::file_bytes::FileBytes;
pub use curves::affine_point::{AffinePoint, PointFault, PointGroup};
pub use curves::curve_id::CurveId;
pub use error::{Error, Result};
pub use groth16::{Groth16Engine, Proof, VerificationKey};
pub use json::{JsonText, curve_from_json, public_from_json, public_to_json};
pub use prover::any_proving_key::{AnyProvingKey, ProofTexts};
pub use prover::key_cache::KeyCache;
pub use prover::proving_key::{Blinding, ProveOptions, ProvingKey};
pub use verify::{PreparedVerificationKey, verify, verify_json};
pub use witness::Witness;
pub use zkey::Zkey;
pub use zkey::coefficients::{Coefficient, Coefficients, Matrix};
pub use zkey::header::ZkeyHeader;
pub use zkey::identity::ZkeyIdentity;
pub use zkey::points::RawPoints;

/// Compiles the Rust code of the page as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/circom.md")]
struct Page;
