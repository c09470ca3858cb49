//! Drop-in for the crate `supraseal-c2` 0.1: the same public interface, with proofwarp behind it. An unmodified
//! bellperson with the feature `cuda-supraseal` makes its proofs there, on CUDA, OpenCL or the CPU.
//!
//! ```toml
//! [patch.crates-io]
//! supraseal-c2 = { path = "proofwarp/adapters/supraseal-c2" }
//! ```
//!
//! [`proofwarp::Accelerator`] chooses the devices; `PROOFWARP_BACKEND=cuda|opencl|cpu` forces a backend. bellperson's
//! `BELLMAN_NO_GPU=1` selects the CPU here too; with a forced device backend it is an error.
//!
//! Each proof is verified before it is returned. A batch is made again on the CPU if it fails, or if a proof does not
//! verify although its witness satisfies the circuit's constraints. The log then has an error, and the file of
//! `PROOFWARP_REPORT` a line. If the CPU fails too, or a backend is forced, [`generate_groth16_proofs`] panics with the
//! reason. The stock crate does so for every failure, because its interface cannot return an error. A panic leaves no
//! lock and no partial state, so later calls work. For a witness that does not satisfy the constraints the proof is
//! returned with a warning; the stock crate returns it without one.

#![deny(unreachable_pub)]

mod assignment;
mod devices;
mod error;
mod file;
mod prover;
mod srs;

use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use proofwarp::groth16::Proof;

pub use assignment::Assignment;
pub use error::Error;
pub use srs::SRS;

use assignment::AssignmentSlices;

/// Holds a proof in bellperson's memory layout.
#[repr(C)]
struct ProofInMemory {
    a: G1Affine,
    b: G2Affine,
    c: G1Affine,
}

/// Writes a proof for each of `provers`, the circuits' assignments, to `proofs`. Proof i uses element i of `r_s` and
/// `s_s` as its r and s. All assignments must be of the circuit of the parameters `srs`.
///
/// `S` must be the scalars of BLS12-381, and `PR` a structure with the C layout of a proof's A, B and C.
///
/// # Panics
/// Panics if lengths or types are wrong, if the assignments do not belong to the parameters, or if there is no proof:
/// see the crate's documentation.
pub fn generate_groth16_proofs<S, PR>(provers: &[Assignment<S>], r_s: &[S], s_s: &[S], proofs: &mut [PR], srs: &SRS) {
    if let Err(error) = generate(provers, r_s, s_s, proofs, srs) {
        log::error!("supraseal-c2: no proofs: {error}");
        panic!("supraseal-c2: no proofs: {error}");
    }
}

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
    assert_eq!(size_of::<D>(), size_of::<usize>(), "bits come in words of {} bytes", size_of::<usize>());
    for vectors in [ntt_a_scalars, ntt_b_scalars, ntt_c_scalars, input_assignments, aux_assignments] {
        assert_eq!(vectors.len(), num_circuits, "number of vectors");
    }
    let words = |bits: &[D], length: usize| {
        let (expected, actual) = (length.div_ceil(usize::BITS as usize), bits.len());
        assert!(actual >= expected, "words of a density: expected {expected}, got {actual}");
        bits.as_ptr().cast::<usize>()
    };
    let provers: Vec<_> = (0..num_circuits)
        .map(|number| Assignment {
            a_aux_density: words(a_aux_density_bv, aux_assignments_size),
            a_aux_bit_len: aux_assignments_size,
            a_aux_popcount: a_aux_total_density,
            b_inp_density: words(b_g1_input_density_bv, input_assignments_size),
            b_inp_bit_len: input_assignments_size,
            b_inp_popcount: b_g1_input_total_density,
            b_aux_density: words(b_g1_aux_density_bv, aux_assignments_size),
            b_aux_bit_len: aux_assignments_size,
            b_aux_popcount: b_g1_aux_total_density,
            a: ntt_a_scalars[number],
            b: ntt_b_scalars[number],
            c: ntt_c_scalars[number],
            abc_size: ntt_scalars_actual_size,
            inp_assignment_data: input_assignments[number],
            inp_assignment_size: input_assignments_size,
            aux_assignment_data: aux_assignments[number],
            aux_assignment_size: aux_assignments_size,
        })
        .collect();
    generate_groth16_proofs(&provers, r_s, s_s, proofs, srs);
}

fn generate<S, PR>(provers: &[Assignment<S>], r: &[S], s: &[S], proofs: &mut [PR], srs: &SRS) -> Result<(), Error> {
    error::check_equal("number of r", provers.len(), r.len())?;
    error::check_equal("number of s", provers.len(), s.len())?;
    error::check_equal("number of proofs", provers.len(), proofs.len())?;
    check_types::<S, PR>()?;
    if provers.is_empty() {
        return Ok(());
    }
    // SAFETY: S is the scalar type, or the type that the scalar type wraps transparently.
    let [r, s] =
        [r, s].map(|slice| unsafe { std::slice::from_raw_parts(slice.as_ptr().cast::<Scalar>(), slice.len()) });
    let numbered = provers.iter().enumerate();
    let parts =
        numbered.map(|(number, prover)| AssignmentSlices::new(number, prover)).collect::<Result<Vec<_>, _>>()?;
    let made = srs.prover()?.prove(&parts, r, s)?;
    proofs.iter_mut().zip(made).for_each(|(place, proof)| write_proof(place, proof));
    Ok(())
}

/// Checks that `S` is the scalar type and that `PR` has the layout of a proof. The stock crate's signature has no
/// bounds on them, so a type of another field can be recognised only by its name.
fn check_types<S, PR>() -> Result<(), Error> {
    use std::any::type_name;
    let (scalar, proof) = (type_name::<S>(), type_name::<PR>());
    let known = [type_name::<Scalar>(), type_name::<blst::blst_fr>()].contains(&scalar);
    if !known || size_of::<S>() != size_of::<Scalar>() || align_of::<S>() != align_of::<Scalar>() {
        return Err(Error::invalid("type of scalars", type_name::<Scalar>(), scalar));
    }
    let fits = size_of::<PR>() == size_of::<ProofInMemory>() && align_of::<PR>() >= align_of::<ProofInMemory>();
    if !fits || std::mem::needs_drop::<PR>() {
        let expected = format!("a structure of {} bytes that owns no memory", size_of::<ProofInMemory>());
        return Err(Error::invalid("type of proofs", expected, format!("{proof} of {}", size_of::<PR>())));
    }
    Ok(())
}

/// Writes `proof` to the caller's `place`.
fn write_proof<PR>(place: &mut PR, proof: Proof<Bls12>) {
    let Proof { a, b, c } = proof;
    // SAFETY: the place is valid for writes, of the right size and alignment, both checked before. The interface
    // requires the caller to have a proof of this layout there.
    unsafe { std::ptr::from_mut(place).cast::<ProofInMemory>().write(ProofInMemory { a, b, c }) };
}
