//! Proves with keys of `ark-groth16`.
//!
//! The modules declared here depend on no version of arkworks. `ark_pairing.rs` and `proving_key.rs` name its types: the
//! modules `ark_0_5` and `ark_0_6` each compile these two files for their version.

mod assignment;
mod constraints;
mod key_points;
mod montgomery_form;
mod resident_key;

pub(crate) use crate::prover::resident_prover::BatchBlinding;
pub(crate) use assignment::{Assignment, CIRCUIT, expect_count, to_scalars};
pub(crate) use constraints::{Constraints, MatrixRow, System};
pub(crate) use key_points::{KeyPoints, to_point, to_points};
pub(crate) use montgomery_form::{MontgomeryForm, from_point, to_scalar};
pub(crate) use resident_key::ResidentKey;
