//! Makes Groth16 proofs from witnesses. All work between the upload of a witness and the proof's MSMs runs on the
//! device.
//!
//! [`ProvingKeyOnDevice`] holds a key's bases, [`Circuit`] the data that proofs of one circuit share. [`prove()`] makes
//! proofs of a batch of witnesses, which are assignments, or assignments with a, b and c evaluated ([`Witness`]).
//!
//! The quotient takes six transforms. With values a', b' on the coset, where Z is one number, it is
//!
//! ```text
//! h = (interpolated(a'·b') − c)/Z
//! ```
//!
//! in coefficients. Interpolation is linear, and the degree of c is below the domain's order, so c is never transformed
//! to the coset.

mod batched;
mod circuit;
mod cpu;
mod device_proof;
mod device_prover;
mod expect_length;
mod gpu;
mod in_flight;
mod key;
mod lazy_per_device;
mod msm_queue;
mod pairing_engine;
mod partial_results;
mod proof;
mod proof_streams;
mod prove;
mod quotient;
mod resumable_batch;
mod schedule;
mod streamed;
mod witness;

#[cfg(test)]
mod tests;

pub use circuit::{Circuit, Densities};
pub use key::{Parameters, ProvingKeyOnDevice};
pub use pairing_engine::Engine;
pub use proof::Proof;
#[cfg(feature = "mpi")]
pub(crate) use proof::{MsmSums, assemble_proof};
pub use prove::prove;
#[cfg(feature = "mpi")]
pub(crate) use quotient::inverse_vanishing_value;
pub use resumable_batch::Batch;
pub use witness::Witness;
