//! Replaces `risc0-groth16-sys` 5.0.0-rc.1, on which `risc0-groth16` 5 proves RISC Zero's last step, by proofwarp.
//!
//! [`prove`] takes the bytes of the zkey, keeps its key on the devices, and returns the proof. It runs on CUDA, OpenCL
//! or the CPU, with or without the feature `cuda`. `docs/risc0.md` lists the differences from stock.
//!
//! ```
//! use risc0_groth16_sys::{ProveParams, prove};
//!
//! let error = prove(&[1; 32], &ProveParams { pcoeffs: &[], fres: &[], srs: &[] }).expect_err("there is no zkey");
//! assert!(error.to_string().starts_with("srs: "), "{error}");
//! ```

#![deny(unreachable_pub)]

#[path = "../../risc0-groth16-sys/src/copies.rs"]
mod copies;
mod params;
mod proof;
mod prover;
#[cfg(feature = "setup")]
mod setup;

pub use params::{ProveParams, SetupParams};
pub use proof::{Fp, Groth16Proof};
pub use prover::prove;
#[cfg(feature = "setup")]
pub use setup::setup;
