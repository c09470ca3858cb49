//! Makes Groth16 proofs on proofwarp from assignments in bellperson's memory layout. The drop-ins for supraseal-c2, the
//! published one and that of Curio's engine, are built on this crate.
//!
//! [`proofwarp::Accelerator`] chooses the devices; `PROOFWARP_BACKEND=cuda|opencl|cpu` forces a backend. bellperson's
//! `BELLMAN_NO_GPU=1` selects the CPU here too; with a forced device backend it is an error.
//!
//! Each proof is verified before it is returned. A batch is made again on the CPU if it fails, or if a proof does not
//! verify although its witness satisfies the circuit's constraints. The log then has an error, and the file of
//! `PROOFWARP_REPORT` a line. For a witness that does not satisfy the constraints the proof is returned with a warning.

#![deny(unreachable_pub)]

mod assignment;
mod batch;
mod devices;
mod error;
mod file;
mod matrices;
mod prover;
mod srs;
mod witness_values;

pub use assignment::{Assignment, SharedDensities};
pub use batch::{Proofs, panic_on_error, prove, prove_witnesses};
pub use error::Error;
pub use matrices::{CompressedRows, Matrices};
pub use prover::ProvingDevice;
pub use srs::SRS;
pub use witness_values::WitnessValues;

/// Writes a proof for each of `provers`, the circuits' assignments, to `proofs`. Proof i uses element i of `r_s` and
/// `s_s` as its r and s. All assignments must be of the circuit of the parameters `srs`.
///
/// `S` must be the scalars of BLS12-381, and `PR` a structure with the C layout of a proof's A, B and C.
///
/// # Panics
/// Panics if lengths or types are wrong, or if the assignments do not belong to the parameters. It also panics if there
/// is no proof, because a forced backend failed, or the CPU after a device.
pub fn generate_groth16_proofs<S, PR>(provers: &[Assignment<S>], r_s: &[S], s_s: &[S], proofs: &mut [PR], srs: &SRS) {
    panic_on_error(Proofs::check_places(provers.len(), proofs));
    // SAFETY: the stock interface, which is safe, requires such assignments and such a `PR` of its caller.
    panic_on_error(unsafe {
        prove(ProvingDevice::default(), provers, [r_s, s_s], srs).and_then(|made| made.write_to(proofs))
    });
}
