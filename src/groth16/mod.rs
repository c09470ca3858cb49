//! Makes Groth16 proofs from witnesses. All work between the upload of a witness and the proof's MSMs runs on the
//! device.
//!
//! [`ProvingKeyOnDevice`] holds a key's bases, [`Circuit`] the data that proofs of one circuit share. [`prove()`] makes
//! proofs of a batch of witnesses, which are assignments, or assignments with a, b and c evaluated ([`Witness`]).
//! [`verify()`] verifies a proof, and [`PreparedVerifyingKey`] many.
//!
//! The quotient takes six transforms. With values a', b' on the coset, where Z is one number, it is
//!
//! ```text
//! h = (interpolated(a'·b') − c)/Z
//! ```
//!
//! in coefficients. Interpolation is linear, and the degree of c is below the domain's order, so c is never transformed
//! to the coset.
//!
//! snarkjs's keys have bases for the values of a·b − c on a coset instead ([`QuotientForm::CosetValues`]). Then a, b and
//! c are all interpolated and evaluated on the coset, which takes six transforms as well.

mod aux_values;
mod circuit_and_witness;
mod circuit_file;
mod cpu;
mod gpu;
mod key;
mod msm_sums_and_proof;
mod packed_scalars;
mod parameters;
mod prove;
mod schedule;
mod verify;

#[cfg(test)]
mod data_type_tests;

pub use aux_values::AuxValues;
pub use circuit_and_witness::{Circuit, Densities, Witness};
pub use key::ProvingKeyOnDevice;
pub use msm_sums_and_proof::Proof;
#[cfg(feature = "mpi")]
pub(crate) use msm_sums_and_proof::{MsmSums, assemble_proof};
pub use packed_scalars::PackedScalars;
#[cfg(feature = "mpi")]
pub(crate) use parameters::inverse_vanishing_value;
pub use parameters::{Engine, Parameters, QuotientForm};
pub use prove::{Batch, prove};
pub use verify::{PreparedInputs, PreparedVerifyingKey, VerifyingKey, verify};
