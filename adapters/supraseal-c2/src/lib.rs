//! Drop-in for the crate `supraseal-c2` 0.1: the same public interface, with proofwarp behind it. An unmodified
//! bellperson with the feature `cuda-supraseal` makes its proofs there, on CUDA, OpenCL or the CPU.
//!
//! ```toml
//! [patch.crates-io]
//! supraseal-c2 = { path = "proofwarp/adapters/supraseal-c2" }
//! ```
//!
//! `proofwarp::Accelerator` chooses the devices; `PROOFWARP_BACKEND=cuda|opencl|cpu` forces a backend. bellperson's
//! `BELLMAN_NO_GPU=1` selects the CPU here too; with a forced device backend it is an error.
//!
//! Each proof is verified before it is returned. A batch is made again on the CPU if it fails, or if a proof does not
//! verify although its witness satisfies the circuit's constraints. The log then has an error, and the file of
//! `PROOFWARP_REPORT` a line. If the CPU fails too, or a backend is forced, [`generate_groth16_proofs`] panics with the
//! reason. The stock crate does so for every failure, because its interface cannot return an error. A panic leaves no
//! lock and no partial state, so later calls work. For a witness that does not satisfy the constraints the proof is
//! returned with a warning; the stock crate returns it without one.

#![deny(unreachable_pub)]

use proofwarp_supraseal::SharedDensities;

pub use proofwarp_supraseal::{Assignment, Error, SRS, generate_groth16_proofs};

/// Makes proofs like [`generate_groth16_proofs`], with densities that all circuits share.
///
/// # Panics
/// Panics if [`generate_groth16_proofs`] would, if `D` does not have the size of a `usize`, or if the numbers of
/// vectors or words are wrong.
#[allow(clippy::too_many_arguments, reason = "the stock crate's interface")]
pub fn generate_groth16_proof<S, D, PR>(
    ntt_a_scalars: &[*const S],
    ntt_b_scalars: &[*const S],
    ntt_c_scalars: &[*const S],
    ntt_scalars_actual_size: usize,
    input_assignments: &[*const S],
    aux_assignments: &[*const S],
    input_assignments_size: usize,
    aux_assignments_size: usize,
    a_aux_density_bv: &[D],
    b_g1_input_density_bv: &[D],
    b_g1_aux_density_bv: &[D],
    a_aux_total_density: usize,
    b_g1_input_total_density: usize,
    b_g1_aux_total_density: usize,
    num_circuits: usize,
    r_s: &[S],
    s_s: &[S],
    proofs: &mut [PR],
    srs: &SRS,
) {
    let provers = SharedDensities {
        evaluations: [ntt_a_scalars, ntt_b_scalars, ntt_c_scalars],
        constraints: ntt_scalars_actual_size,
        inputs: (input_assignments, input_assignments_size),
        aux: (aux_assignments, aux_assignments_size),
        densities: [a_aux_density_bv, b_g1_input_density_bv, b_g1_aux_density_bv],
        ones: [a_aux_total_density, b_g1_input_total_density, b_g1_aux_total_density],
    }
    .assignments(num_circuits);
    generate_groth16_proofs(&provers, r_s, s_s, proofs, srs);
}
