//! Replaces `risc0-groth16-sys` 0.1, on which `risc0-groth16` 3 proves RISC Zero's last step, by proofwarp.
//!
//! [`prove`] reads the zkey, keeps its key on the devices, and writes `proof.json` and `public.json`. It runs on CUDA,
//! OpenCL or the CPU, with or without the feature `cuda`. `docs/risc0.md` lists the differences from stock.
//!
//! ```
//! use risc0_groth16_sys::{ProverParams, SetupParams, prove};
//!
//! # fn main() -> anyhow::Result<()> {
//! let setup = SetupParams::new("no/such/folder".as_ref())?;
//! let witness = [1; 32];
//! let output = ProverParams::new("folder".as_ref(), witness.as_ptr())?;
//! let error = prove(&output, &setup).expect_err("there is no zkey");
//! assert!(error.to_string().starts_with("no/such/folder/stark_verify_final.zkey: "), "{error}");
//! # Ok(())
//! # }
//! ```

#![deny(unreachable_pub)]

mod copies;
mod params;
mod prover;
#[cfg(feature = "setup")]
mod setup;

pub use params::{ProverParams, RawPath, SetupParams, WitnessParams};
pub use prover::prove;
#[cfg(feature = "setup")]
pub use setup::setup;
