//! Groth16 proofs from a witness. Everything between the witness's upload and the proof's sums happens on the device.
//!
//! [`ProvingKeyOnDevice`] holds a key's bases, [`Circuit`] what proofs of one circuit have in common; [`prove()`] makes
//! proofs of a batch of witnesses, which are assignments, or assignments with a, b and c evaluated ([`Witness`]).
//!
//! The quotient takes six transforms: with a', b' for values on the coset, where Z is one number,
//!
//! ```text
//! h = (interpolated(a'·b') − c)/Z
//! ```
//!
//! in coefficients. Interpolation is linear and the degree of c is below the domain's order, so c never goes to the coset.

mod batch;
mod check;
mod circuit;
mod cpu;
mod engine;
mod gpu;
mod key;
mod lane;
mod per_device;
mod proof;
mod prove;
mod prover;
mod queue;
mod quotient;
mod results;
mod running;
mod spread;
mod streamed;
mod together;
mod under_way;
mod witness;

#[cfg(test)]
mod tests;

pub use batch::Batch;
pub use circuit::{Circuit, Densities};
pub use engine::Engine;
pub use key::{Parameters, ProvingKeyOnDevice};
pub use proof::Proof;
#[cfg(feature = "mpi")]
pub(crate) use proof::{Sums, proof_of};
pub use prove::prove;
#[cfg(feature = "mpi")]
pub(crate) use quotient::coset_inverse;
pub use witness::Witness;
