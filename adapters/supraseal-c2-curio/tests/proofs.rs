//! Calls the drop-in as Curio's engine does, on the backend of the environment. Bellperson's own prover and verifier judge.

mod common;

use std::ffi::{c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Mutex;
use std::time::Duration;

use bellperson::groth16::{Proof, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use common::{Assigned, Chain, parameters, stock_proof};
use ff::Field;
use proofwarp::Accelerator;
use proofwarp_supraseal::{ProvingDevice, SharedDensities};
use supraseal_c2::{
    Matrices, WitnessValues, generate_groth16_proof, start_groth16_proof, start_groth16_proof_from_witnesses,
};
use supraseal_c2::{SRS, alloc_gpu_mutex, drop_pending_proof, finish_groth16_proof, free_gpu_mutex};

// As the engine declares them.
unsafe extern "C" {
    fn cudaHostAlloc(address: *mut *mut c_void, size: usize, flags: c_uint) -> c_int;
    fn cudaFreeHost(address: *mut c_void) -> c_int;
}

/// Holds the circuits of a batch, and the arguments of its functions.
struct Batch {
    circuits: Vec<Chain>,
    assigned: Vec<Assigned>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
}

/// Points to a vector of each circuit.
type Pointers = Vec<*const Scalar>;

impl Batch {
    fn new(links: usize, count: u64) -> Self {
        let circuits: Vec<_> = (0..count).map(|number| Chain { links, secret: 3 + number }).collect();
        let assigned = circuits.iter().map(|circuit| Assigned::new(*circuit)).collect();
        let [r, s] = [7, 11].map(|seed| (0..count).map(|number| Scalar::from(seed + number)).collect());
        Self { circuits, assigned, r, s }
    }

    fn pointers(&self) -> [Pointers; 5] {
        let all = |part: fn(&Assigned) -> &Vec<Scalar>| self.assigned.iter().map(|it| part(it).as_ptr()).collect();
        [
            all(|it| &it.evaluations[0]),
            all(|it| &it.evaluations[1]),
            all(|it| &it.evaluations[2]),
            all(|it| &it.inputs),
            all(|it| &it.aux),
        ]
    }

    fn generate(&self, srs: &SRS, lock: *mut c_void, device: i32) -> Vec<Proof<Bls12>> {
        let ([a, b, c, inputs, aux], first) = (self.pointers(), &self.assigned[0]);
        let (words, ones) = first.densities();
        let mut proofs = self.places();
        generate_groth16_proof(
            &a,
            &b,
            &c,
            first.evaluations[0].len(),
            &inputs,
            &aux,
            first.inputs.len(),
            first.aux.len(),
            &words[0],
            &words[1],
            &words[2],
            ones[0],
            ones[1],
            ones[2],
            self.circuits.len(),
            &self.r,
            &self.s,
            &mut proofs,
            srs,
            lock,
            device,
        );
        proofs
    }

    fn start(&self, srs: &SRS, lock: *mut c_void, device: i32) -> *mut c_void {
        let [a, b, c, ..] = self.pointers();
        self.start_with([&a, &b, &c], srs, lock, device)
    }

    /// Starts a proof with the vectors `evaluations` of A, B and C.
    fn start_from(&self, evaluations: [&[*const Scalar]; 3], srs: &SRS) -> *mut c_void {
        self.start_with(evaluations, srs, ptr::null_mut(), -1)
    }

    fn start_with(&self, [a, b, c]: [&[*const Scalar]; 3], srs: &SRS, lock: *mut c_void, device: i32) -> *mut c_void {
        let ([.., inputs, aux], first) = (self.pointers(), &self.assigned[0]);
        let (words, ones) = first.densities();
        start_groth16_proof(
            a,
            b,
            c,
            first.evaluations[0].len(),
            &inputs,
            &aux,
            first.inputs.len(),
            first.aux.len(),
            &words[0],
            &words[1],
            &words[2],
            ones[0],
            ones[1],
            ones[2],
            self.circuits.len(),
            &self.r,
            &self.s,
            srs,
            lock,
            device,
        )
    }

    /// Starts a proof from the packed values of the variables and the circuit's `matrices`.
    fn start_from_values(&self, matrices: &Matrices, srs: &SRS, lock: *mut c_void, device: i32) -> *mut c_void {
        let values: Vec<_> = self.assigned.iter().map(Assigned::values).collect();
        let values: Vec<_> = values.iter().collect();
        start_groth16_proof_from_witnesses(matrices, &values, &self.r, &self.s, srs, lock, device)
    }

    /// Returns points that are no proofs, to be overwritten.
    fn places(&self) -> Vec<Proof<Bls12>> {
        let [a, c] = [blstrs::G1Affine::default(); 2];
        vec![Proof { a, b: blstrs::G2Affine::default(), c }; self.circuits.len()]
    }
}

/// Returns the text of the panic of `call`.
fn panic_of<T>(call: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(call)).err().expect("a panic");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn equal_to_bellpersons_own() {
    for (links, count) in [(1, 1), (40, 1), (100, 3)] {
        let ((made, srs), batch, lock) = (parameters(links), Batch::new(links, count), alloc_gpu_mutex());
        let inputs = batch.circuits.iter().zip(batch.r.iter().zip(&batch.s));
        let expected: Vec<_> = inputs.map(|(circuit, (r, s))| stock_proof(*circuit, &made, *r, *s)).collect();
        let key = prepare_verifying_key(&made.vk);
        for (proof, circuit) in expected.iter().zip(&batch.circuits) {
            assert!(verify_proof(&key, proof, &[circuit.result()]).expect("it verifies"));
        }
        for (lock, device) in [(ptr::null_mut(), -1), (lock, -7), (lock, 0)] {
            assert!(batch.generate(&srs, lock, device) == expected, "{links} links, device {device}");
            let handle = batch.start(&srs, lock, device);
            let mut proofs = batch.places();
            finish_groth16_proof(handle, &mut proofs);
            assert!(proofs == expected, "{links} links, device {device}");
        }
        let (matrices, mapped) = matrices_in_memory_and_file(&batch);
        for matrices in [matrices, mapped] {
            let handle = batch.start_from_values(&matrices, &srs, lock, 0);
            let mut proofs = batch.places();
            finish_groth16_proof(handle, &mut proofs);
            assert!(proofs == expected, "{links} links, from values");
        }
        // SAFETY: any pointer is allowed.
        unsafe { free_gpu_mutex(lock) };
    }
}

/// Returns the matrices of the batch's circuit in memory, and mapped from a file that is deleted.
fn matrices_in_memory_and_file(batch: &Batch) -> (Matrices, Matrices) {
    let (matrices, folder) = (batch.assigned[0].matrices(), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("matrices");
    matrices.write(&path).expect("a file");
    // SAFETY: the file is only deleted.
    let mapped = unsafe { Matrices::open(&path) }.expect("the file");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "no partial file stays");
    let counts = |it: &Matrices| [it.input_count(), it.aux_count(), it.constraint_count(), it.host_bytes() as usize];
    assert_eq!(counts(&mapped), counts(&matrices));
    (matrices, mapped)
}

/// Checks that values which do not satisfy the circuit are refused, and so is a circuit of other parameters.
#[test]
fn values_that_do_not_fit() {
    let ((_, srs), batch) = (parameters(40), Batch::new(40, 1));
    let matrices = batch.assigned[0].matrices();
    let mut wrong = batch.assigned[0].values();
    wrong.push_aux(Scalar::from(2));
    let start = |matrices: &Matrices, values: &WitnessValues, srs: &SRS| {
        start_groth16_proof_from_witnesses(matrices, &[values], &batch.r, &batch.s, srs, ptr::null_mut(), -1)
    };
    let panic = panic_of(|| start(&matrices, &wrong, &srs));
    assert!(panic.contains("auxiliary values of witness 0: expected 81, got 82"), "{panic}");
    let mut unsatisfied = WitnessValues::default();
    (0..matrices.input_count()).for_each(|_| _ = unsatisfied.push_input(Scalar::ONE));
    (0..matrices.aux_count()).for_each(|_| _ = unsatisfied.push_aux(Scalar::from(7)));
    let panic = panic_of(|| start(&matrices, &unsatisfied, &srs));
    assert!(panic.contains("witness 0: expected one that satisfies the circuit's constraints"), "{panic}");
    let other = Batch::new(39, 1);
    let (matrices, values) = (other.assigned[0].matrices(), other.assigned[0].values());
    let panic = panic_of(|| start(&matrices, &values, &srs));
    assert!(panic.contains("expected"), "{panic}");
}

/// Checks threads that share a lock, which is freed meanwhile. Vectors are gone before their proofs are finished.
#[test]
fn several_threads_and_handles() {
    const PROOFS: u64 = 6;
    let ((made, srs), lock) = (parameters(40), alloc_gpu_mutex().addr());
    let prove = |number: u64| {
        let batch = Batch::new(40, 1 + number % 2);
        let handle = batch.start(&srs, ptr::without_provenance_mut(lock), -1);
        let inputs = batch.circuits.iter().zip(batch.r.iter().zip(&batch.s));
        let expected: Vec<_> = inputs.map(|(circuit, (r, s))| stock_proof(*circuit, &made, *r, *s)).collect();
        let mut places = batch.places();
        drop(batch);
        finish_groth16_proof(handle, &mut places);
        assert!(places == expected);
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..PROOFS).map(|number| scope.spawn(move || prove(number))).collect();
        started.into_iter().for_each(|thread| thread.join().expect("a proof"));
    });
    // SAFETY: any pointer is allowed.
    unsafe { free_gpu_mutex(ptr::without_provenance_mut(lock)) };
}

/// Checks that devices wait for the lock of a batch. The CPU needs none.
#[test]
fn devices_wait_for_their_lock() {
    let ((_, srs), batch, lock) = (parameters(40), Batch::new(40, 1), Mutex::new(()));
    let has_devices = !Accelerator::global().expect("an accelerator").devices().is_empty();
    let proved = || {
        let ([a, b, c, inputs, aux], first) = (batch.pointers(), &batch.assigned[0]);
        let (words, ones) = first.densities();
        let circuits = SharedDensities {
            evaluations: [&a, &b, &c],
            constraints: first.evaluations[0].len(),
            inputs: (&inputs, first.inputs.len()),
            aux: (&aux, first.aux.len()),
            densities: words.each_ref().map(Vec::as_slice),
            ones,
        };
        let device = ProvingDevice { ordinal: None, lock: Some(&lock) };
        // SAFETY: the pointers are those of vectors of these lengths, which `batch` owns.
        unsafe { proofwarp_supraseal::prove(device, &circuits.assignments(1), [&batch.r, &batch.s], &srs) }.is_ok()
    };
    // Kernels are compiled before.
    assert!(proved());
    std::thread::scope(|scope| {
        let held = lock.lock().expect("the lock");
        let thread = scope.spawn(proved);
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(thread.is_finished(), !has_devices);
        drop(held);
        assert!(thread.join().expect("no panic"));
    });
}

/// Proves from memory that the engine has from `cudaHostAlloc`, and frees it before the proof is finished.
#[test]
fn memory_of_the_runtimes_functions() {
    let ((made, srs), mut batch) = (parameters(40), Batch::new(40, 1));
    let expected = stock_proof(batch.circuits[0], &made, batch.r[0], batch.s[0]);
    let bytes = size_of_val(&batch.assigned[0].evaluations[0][..]);
    let mut pinned = [ptr::null_mut(); 3];
    for (place, values) in pinned.iter_mut().zip(&mut batch.assigned[0].evaluations) {
        // SAFETY: the place is valid for a write, and the memory has room for the values.
        unsafe {
            assert_eq!(cudaHostAlloc(place, bytes, 1), 0);
            ptr::copy_nonoverlapping(values.as_ptr(), place.cast(), values.len());
        }
    }
    let [a, b, c] = pinned.map(|address| [address.cast::<Scalar>().cast_const()]);
    let handle = batch.start_from([&a, &b, &c], &srs);
    // SAFETY: the test no longer uses the memory.
    assert_eq!(pinned.map(|address| unsafe { cudaFreeHost(address) }), [0; 3]);
    // SAFETY: these addresses are freed, or null.
    assert_eq!([pinned[0], ptr::null_mut()].map(|address| unsafe { cudaFreeHost(address) }), [1, 0]);
    let mut places = batch.places();
    finish_groth16_proof(handle, &mut places);
    assert!(places == [expected]);
    // SAFETY: the first place is refused, the second one valid for a write.
    unsafe {
        assert_eq!(cudaHostAlloc(ptr::null_mut(), 1, 1), 1);
        assert_eq!(cudaHostAlloc(&raw mut pinned[0], usize::MAX / 2, 1), 2);
    }
    assert!(pinned[0].is_null());
}

#[test]
fn handles_and_locks_that_are_gone_are_refused() {
    let ((_, srs), batch, lock) = (parameters(1), Batch::new(1, 1), alloc_gpu_mutex());
    let handle = batch.start(&srs, lock, -1);
    finish_groth16_proof(handle, &mut batch.places());
    let refused = |panic: String| assert!(panic.contains("handle of a proof: expected one of start"), "{panic}");
    refused(panic_of(|| finish_groth16_proof(handle, &mut batch.places())));
    refused(panic_of(|| finish_groth16_proof(ptr::null_mut(), &mut batch.places())));
    let dropped = batch.start(&srs, lock, -1);
    // SAFETY: any pointer is allowed.
    (0..2).for_each(|_| unsafe { drop_pending_proof(dropped) });
    refused(panic_of(|| finish_groth16_proof(dropped, &mut batch.places())));
    let too_many = batch.start(&srs, lock, -1);
    let panic = panic_of(|| finish_groth16_proof(too_many, &mut [batch.places(), batch.places()].concat()));
    assert!(panic.contains("number of proofs: expected 1, got 2"), "{panic}");
    // SAFETY: any pointer is allowed.
    (0..2).for_each(|_| unsafe { free_gpu_mutex(lock) });
    let panic = panic_of(|| batch.start(&srs, lock, -1));
    assert!(panic.contains("gpu_mtx: expected null, or a lock"), "{panic}");
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let ((_, srs), batch) = (parameters(1), Batch::new(1, 1));
    if !Accelerator::global().expect("an accelerator").devices().is_empty() {
        let panic = panic_of(|| batch.start(&srs, ptr::null_mut(), 99));
        assert!(panic.contains("number of a device: expected 0") && panic.ends_with("got 99"), "{panic}");
    }
    let panic = panic_of(|| batch.start(&SRS::default(), ptr::null_mut(), -1));
    assert!(panic.contains("SRS: expected parameters from a file"), "{panic}");
    let panic = panic_of(|| Batch { r: Vec::new(), ..Batch::new(1, 1) }.start(&srs, ptr::null_mut(), -1));
    assert!(panic.contains("number of r: expected 1, got 0"), "{panic}");
}
