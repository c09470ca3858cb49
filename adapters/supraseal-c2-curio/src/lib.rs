//! Drop-in for the crate `supraseal-c2` in Curio's folder `extern`: the interface that Curio's bellperson and its engine
//! `cuzk` call, with proofwarp behind it. It proves on CUDA, OpenCL or the CPU.
//!
//! ```toml
//! # extern/cuzk/Cargo.toml
//! [patch.crates-io]
//! supraseal-c2 = { path = "proofwarp/adapters/supraseal-c2-curio" }
//! ```
//!
//! Parameters, checks, fallbacks and panics are those of the drop-in for the published crate, which this one calls. A
//! function that takes `gpu_mtx` holds that lock while it proves; null stands for a lock that all such calls share. With
//! `gpu_index` from 0 on, the device of that number makes the proofs, and −1 leaves the choice to proofwarp.
//!
//! [`start_groth16_proof`] makes and verifies the proofs, B in G2 among them, on the device. So [`finish_groth16_proof`]
//! has nothing to wait for. The vectors of A, B and C, and the assignments, are free once the former returns.
//!
//! Curio's engine takes page-locked memory from the CUDA runtime's `cudaHostAlloc` and `cudaFreeHost`, which the crate in
//! its place links. This crate defines both, over the driver that proofwarp uses; without a device the memory is
//! pageable. A program that links the CUDA runtime statically as well has two definitions, and does not link.

#![deny(unreachable_pub)]

mod handles;
mod pinned;

use std::ffi::c_void;

use proofwarp_supraseal::{Place, Proofs, SharedDensities, panic_on_error};

pub use proofwarp_supraseal::{Assignment, Error, SRS, generate_groth16_proofs};

use handles::{GpuLocks, PendingProofs, invalid};

/// Returns a new lock for one device, for the parameter `gpu_mtx`. [`free_gpu_mutex`] frees it.
pub fn alloc_gpu_mutex() -> *mut c_void {
    GpuLocks::create()
}

/// Frees the lock `ptr`. A call that holds it keeps it until it returns.
///
/// # Safety
/// Any pointer is safe here: `ptr` is a key of a table, and is never dereferenced. An unknown one is logged.
pub unsafe fn free_gpu_mutex(ptr: *mut c_void) {
    if !GpuLocks::free(ptr) {
        log::error!("supraseal-c2: free_gpu_mutex: expected a lock of alloc_gpu_mutex, got {ptr:p}");
    }
}

/// Writes a proof of each circuit to `proofs`. Circuit i has element i of all other slices, but densities, which the
/// circuits share. `S` must be the scalars of BLS12-381, and `PR` a structure with the C layout of a proof's A, B and C.
///
/// # Panics
/// Panics if lengths or types are wrong, if `gpu_mtx` is neither null nor a lock, if there are devices, but none of number
/// `gpu_index`, if the assignments do not belong to the parameters `srs`, or if there is no proof.
#[allow(clippy::too_many_arguments, reason = "the interface of Curio's crate")]
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
    gpu_mtx: *mut c_void,
    gpu_index: i32,
) {
    let circuits = SharedDensities {
        evaluations: [ntt_a_scalars, ntt_b_scalars, ntt_c_scalars],
        constraints: ntt_scalars_actual_size,
        inputs: (input_assignments, input_assignments_size),
        aux: (aux_assignments, aux_assignments_size),
        densities: [a_aux_density_bv, b_g1_input_density_bv, b_g1_aux_density_bv],
        ones: [a_aux_total_density, b_g1_input_total_density, b_g1_aux_total_density],
    };
    let assignments = circuits.assignments(num_circuits);
    let written = Proofs::check_places(num_circuits, proofs)
        .and_then(|()| prove(&assignments, [r_s, s_s], srs, gpu_mtx, gpu_index)?.write_to(proofs));
    panic_on_error(written);
}

/// Makes a proof of each circuit like [`generate_groth16_proof`], and returns a handle of them for
/// [`finish_groth16_proof`] or [`drop_pending_proof`].
///
/// # Panics
/// Panics if [`generate_groth16_proof`] would, but for `proofs`.
#[allow(clippy::too_many_arguments, reason = "the interface of Curio's crate")]
pub fn start_groth16_proof<S, D>(
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
    srs: &SRS,
    gpu_mtx: *mut c_void,
    gpu_index: i32,
) -> *mut c_void {
    let circuits = SharedDensities {
        evaluations: [ntt_a_scalars, ntt_b_scalars, ntt_c_scalars],
        constraints: ntt_scalars_actual_size,
        inputs: (input_assignments, input_assignments_size),
        aux: (aux_assignments, aux_assignments_size),
        densities: [a_aux_density_bv, b_g1_input_density_bv, b_g1_aux_density_bv],
        ones: [a_aux_total_density, b_g1_input_total_density, b_g1_aux_total_density],
    };
    let proofs = prove(&circuits.assignments(num_circuits), [r_s, s_s], srs, gpu_mtx, gpu_index);
    PendingProofs::insert(panic_on_error(proofs))
}

/// Writes the proofs of `handle` to `proofs`, and frees the handle.
///
/// # Panics
/// Panics if `handle` is none of [`start_groth16_proof`], or was finished or dropped before, if there are not as many
/// places as proofs, or if `PR` has not a proof's layout. The handle is freed then too.
pub fn finish_groth16_proof<PR>(handle: *mut c_void, proofs: &mut [PR]) {
    panic_on_error(PendingProofs::take(handle).and_then(|pending| pending.write_to(proofs)));
}

/// Drops the proofs of `handle`.
///
/// # Safety
/// Any pointer is safe here: `handle` is a key of a table, and is never dereferenced. An unknown one is logged.
pub unsafe fn drop_pending_proof(handle: *mut c_void) {
    if let Err(error) = PendingProofs::take(handle) {
        log::error!("supraseal-c2: drop_pending_proof: {error}");
    }
}

/// Makes the proofs with the lock `gpu_mtx` held.
fn prove<S>(
    assignments: &[Assignment<S>],
    randomness: [&[S]; 2],
    srs: &SRS,
    gpu_mtx: *mut c_void,
    gpu_index: i32,
) -> Result<Proofs, Error> {
    let device = match gpu_index {
        -1 => None,
        number => Some(usize::try_from(number).map_err(|_| invalid("gpu_index", "-1, or a device's number", number))?),
    };
    let lock = GpuLocks::find(gpu_mtx)?;
    proofwarp_supraseal::prove(Place { device, lock: Some(&lock) }, assignments, randomness, srs)
}
