//! Drop-in for the crate `supraseal-c2` in Curio's folder `extern`: the interface that Curio's bellperson and its engine
//! `cuzk` call, with proofwarp behind it. It proves on CUDA, OpenCL or the CPU.
//!
//! ```toml
//! # extern/cuzk/Cargo.toml
//! [patch.crates-io]
//! supraseal-c2 = { path = "proofwarp/adapters/supraseal-c2-curio" }
//! ```
//!
//! Parameters, checks, fallbacks and panics are those of [`proofwarp_supraseal`], on which the drop-in for the published
//! crate is built too.
//!
//! | parameter | meaning |
//! |---|---|
//! | `gpu_mtx` | a lock of [`alloc_gpu_mutex`], held while devices work; null is one that all such calls share |
//! | `gpu_index` | the driver's number of the device that makes the proofs; a negative one leaves the choice to proofwarp |
//!
//! [`start_groth16_proof`] makes and verifies the proofs, B in G2 among them. So [`finish_groth16_proof`] has nothing to
//! wait for. The vectors of A, B and C, and the assignments, are free once the former returns.
//!
//! [`start_groth16_proof_from_witnesses`] is not of Curio's crate. It takes a, b and c from the circuit's [`Matrices`], on
//! the device or on the CPU that takes over. The host then holds neither them nor most of a witness ([`WitnessValues`]). The project's page on Filecoin
//! has the patch by which the engine calls it.
//!
//! Curio's engine calls the CUDA runtime's `cudaHostAlloc` and `cudaFreeHost`, which the crate that this one replaces
//! links. This crate defines both, without the runtime. A program that links the runtime statically too does not link. A
//! shared library that calls these functions of the runtime may get those defined here.

#![deny(unreachable_pub)]

mod handles;
mod pinned;

use std::ffi::c_void;

use proofwarp_supraseal::{Proofs, ProvingDevice, SharedDensities, panic_on_error};

pub use proofwarp_supraseal::{
    Assignment, CompressedRows, Error, Matrices, SRS, WitnessValues, generate_groth16_proofs,
};

use handles::{GpuLocks, PendingProofs};

/// Returns a new lock for one device, for the parameter `gpu_mtx`. [`free_gpu_mutex`] frees it.
pub fn alloc_gpu_mutex() -> *mut c_void {
    GpuLocks::create()
}

/// Frees the lock `ptr`. A call that holds it keeps it until it returns.
///
/// # Safety
/// Any pointer is safe here: `ptr` is a key of a table, and is never dereferenced. An unknown one is logged.
pub unsafe fn free_gpu_mutex(ptr: *mut c_void) {
    if !ptr.is_null() && !GpuLocks::free(ptr) {
        log::error!("supraseal-c2: free_gpu_mutex: expected a lock of alloc_gpu_mutex, got {ptr:p}");
    }
}

/// Writes a proof of each circuit to `proofs`. Circuit i has element i of the slices of pointers, `r_s` and `s_s`. The
/// circuits share the densities.
///
/// `S` must be the scalars of BLS12-381, and `PR` a structure with the C layout of a proof's A, B and C.
///
/// # Panics
/// - Lengths or types are wrong.
/// - `gpu_mtx` is neither null nor a lock.
/// - There are devices, but none with the number `gpu_index`.
/// - The assignments do not belong to the parameters `srs`.
/// - A forced backend failed, or the CPU after a device.
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
    panic_on_error(Proofs::check_places(num_circuits, proofs));
    let handle = start_groth16_proof(
        ntt_a_scalars,
        ntt_b_scalars,
        ntt_c_scalars,
        ntt_scalars_actual_size,
        input_assignments,
        aux_assignments,
        input_assignments_size,
        aux_assignments_size,
        a_aux_density_bv,
        b_g1_input_density_bv,
        b_g1_aux_density_bv,
        a_aux_total_density,
        b_g1_input_total_density,
        b_g1_aux_total_density,
        num_circuits,
        r_s,
        s_s,
        srs,
        gpu_mtx,
        gpu_index,
    );
    finish_groth16_proof(handle, proofs);
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
    let assignments = circuits.assignments(num_circuits);
    // SAFETY: the interface, which is safe, requires such assignments of its caller.
    let prove =
        |device: ProvingDevice<'_>| unsafe { proofwarp_supraseal::prove(device, &assignments, [r_s, s_s], srs) };
    panic_on_error(start(prove, gpu_mtx, gpu_index))
}

/// Makes a proof of each of `witnesses`, whose circuit's matrices give a, b and c. Returns a handle of them, as
/// [`start_groth16_proof`] does. Proof i has element i of `r_s` and `s_s`.
///
/// `S` must be the scalars of BLS12-381.
///
/// # Panics
/// - Lengths or types are wrong.
/// - `gpu_mtx` is neither null nor a lock.
/// - There are devices, but none with the number `gpu_index`.
/// - The circuit `matrices` does not belong to the parameters `srs`, or its file has changed.
/// - A witness does not satisfy the constraints. Such a witness gives a proof to [`start_groth16_proof`].
/// - A forced backend failed, or the CPU after a device.
pub fn start_groth16_proof_from_witnesses<S>(
    matrices: &Matrices,
    witnesses: &[&WitnessValues],
    r_s: &[S],
    s_s: &[S],
    srs: &SRS,
    gpu_mtx: *mut c_void,
    gpu_index: i32,
) -> *mut c_void {
    let prove =
        |device: ProvingDevice<'_>| proofwarp_supraseal::prove_witnesses(device, matrices, witnesses, [r_s, s_s], srs);
    panic_on_error(start(prove, gpu_mtx, gpu_index))
}

/// Writes the proofs of `handle` to `proofs`, and frees the handle.
///
/// # Panics
/// - `handle` is none of [`start_groth16_proof`], or was finished or dropped before.
/// - There are not as many places as proofs.
/// - `PR` does not have a proof's layout.
///
/// The handle is freed after a panic too.
pub fn finish_groth16_proof<PR>(handle: *mut c_void, proofs: &mut [PR]) {
    // SAFETY: the interface, which is safe, requires such a `PR` of its caller.
    panic_on_error(PendingProofs::take(handle).and_then(|pending| unsafe { pending.write_to(proofs) }));
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

/// Makes proofs by `prove` on the device `gpu_index` with the lock `gpu_mtx`. Returns their handle.
fn start(
    prove: impl FnOnce(ProvingDevice<'_>) -> Result<Proofs, Error>,
    gpu_mtx: *mut c_void,
    gpu_index: i32,
) -> Result<*mut c_void, Error> {
    let lock = GpuLocks::find(gpu_mtx)?;
    let device = ProvingDevice { ordinal: usize::try_from(gpu_index).ok(), lock: Some(&lock) };
    prove(device).map(PendingProofs::insert)
}
