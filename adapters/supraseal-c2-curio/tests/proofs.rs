//! What Curio's engine calls, on the backend of the environment, beside bellperson's own prover and verifier.

mod common;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use bellperson::groth16::{Proof, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use common::{Assigned, Chain, parameters, stock_proof};
use supraseal_c2::{SRS, alloc_gpu_mutex, drop_pending_proof, finish_groth16_proof, free_gpu_mutex};
use supraseal_c2::{generate_groth16_proof, start_groth16_proof};

/// Circuits of a batch, with what the functions take.
struct Batch {
    circuits: Vec<Chain>,
    assigned: Vec<Assigned>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
}

/// A vector of each circuit.
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
        let ([a, b, c, inputs, aux], first) = (self.pointers(), &self.assigned[0]);
        let (words, ones) = first.densities();
        start_groth16_proof(
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
            srs,
            lock,
            device,
        )
    }

    /// Any proofs, to be overwritten.
    fn places(&self) -> Vec<Proof<Bls12>> {
        let [a, c] = [blstrs::G1Affine::default(); 2];
        vec![Proof { a, b: blstrs::G2Affine::default(), c }; self.circuits.len()]
    }
}

/// The text of a panic.
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
        for (lock, device) in [(ptr::null_mut(), -1), (lock, -1), (lock, 0)] {
            assert!(batch.generate(&srs, lock, device) == expected, "{links} links, device {device}");
            let handle = batch.start(&srs, lock, device);
            let mut proofs = batch.places();
            finish_groth16_proof(handle, &mut proofs);
            assert!(proofs == expected, "{links} links, device {device}");
        }
        // SAFETY: nobody uses the lock.
        unsafe { free_gpu_mutex(lock) };
    }
}

/// As the engine does: two threads a lock, proofs that are finished elsewhere, vectors that are gone by then.
#[test]
fn several_threads_and_handles() {
    const PROOFS: u64 = 6;
    let ((made, srs), lock) = (parameters(40), alloc_gpu_mutex().addr());
    let prove = |number: u64| {
        let batch = Batch::new(40, 1 + number % 2);
        let handle = batch.start(&srs, ptr::without_provenance_mut(lock), -1);
        let expected = stock_proof(batch.circuits[0], &made, batch.r[0], batch.s[0]);
        let mut places = batch.places();
        drop(batch);
        finish_groth16_proof(handle, &mut places);
        assert!(places[0] == expected);
    };
    std::thread::scope(|scope| {
        for number in 0..PROOFS {
            scope.spawn(move || prove(number));
        }
    });
    // SAFETY: nobody uses the lock.
    unsafe { free_gpu_mutex(ptr::without_provenance_mut(lock)) };
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
    let panic = panic_of(|| batch.start(&srs, ptr::null_mut(), -2));
    assert!(panic.contains("gpu_index: expected -1, or a device's number, got -2"), "{panic}");
    let devices = proofwarp::Accelerator::global().expect("an accelerator").devices().len();
    if devices > 0 {
        let panic = panic_of(|| batch.start(&srs, ptr::null_mut(), devices as i32));
        assert!(panic.contains(&format!("number of a device: expected below {devices}, got {devices}")), "{panic}");
    }
    let panic = panic_of(|| Batch { r: Vec::new(), ..Batch::new(1, 1) }.start(&srs, ptr::null_mut(), -1));
    assert!(panic.contains("number of r: expected 1, got 0"), "{panic}");
}
