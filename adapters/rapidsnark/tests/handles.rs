//! Uses handles that are wrong or destroyed, and one handle from several threads.

mod common;

use std::ffi::c_void;
use std::thread;

use blstrs::Bls12;
use common::*;
use halo2curves::bn256::Bn256;
use rapidsnark::*;

/// Pointers are not `Send`; their addresses are.
fn to_handle(address: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(address)
}

#[test]
fn handles_that_are_wrong_or_destroyed_are_errors() {
    let witness = witness::<Bn256>(3);
    let handle = create_valid(&zkey::<Bn256>());
    groth16_prover_destroy(handle);
    let mut local = 0_u64;
    let wrong = [handle, (&raw mut local).cast(), to_handle(usize::MAX)];
    for handle in wrong {
        prove(handle, &witness, [LARGE; 2]).expect_error(PROVER_ERROR, "unknown or destroyed");
        groth16_prover_destroy(handle);
    }
    groth16_prover_destroy(std::ptr::null_mut());
    let next = create_valid(&zkey::<Bn256>());
    assert_ne!(next, handle);
    prove(next, &witness, [LARGE; 2]).expect_valid::<Bn256>();
    groth16_prover_destroy(next);
}

/// A prover keeps nothing of the zkey's buffer.
#[test]
fn the_buffer_may_change_after_the_call() {
    let mut zkey = zkey::<Bn256>();
    let handle = create_valid(&zkey);
    zkey.fill(0xff);
    drop(zkey);
    prove(handle, &witness::<Bn256>(4), [LARGE; 2]).expect_valid::<Bn256>();
    groth16_prover_destroy(handle);
}

#[test]
fn threads_share_a_prover() {
    const PROOFS: u64 = 3;
    let [bn254, bls12_381] = [create_valid(&zkey::<Bn256>()), create_valid(&zkey::<Bls12>())].map(<*mut c_void>::addr);
    let prove_one = |address: usize, first: u64| {
        if address == bn254 {
            prove(to_handle(address), &witness::<Bn256>(first), [LARGE; 2]).expect_valid::<Bn256>();
        } else {
            prove(to_handle(address), &witness::<Bls12>(first), [LARGE; 2]).expect_valid::<Bls12>();
        }
    };
    thread::scope(|scope| {
        for address in [bn254, bn254, bls12_381] {
            scope.spawn(move || (1..=PROOFS).for_each(|first| prove_one(address, first)));
        }
    });
    for address in [bn254, bls12_381] {
        groth16_prover_destroy(to_handle(address));
    }
}

/// One thread destroys the prover that another proves with: proofs are valid, or the handle is unknown.
#[test]
fn a_prover_that_is_destroyed_ends_its_proof() {
    let witness = witness::<Bn256>(5);
    let address = create_valid(&zkey::<Bn256>()).addr();
    thread::scope(|scope| {
        let proofs = scope.spawn(|| {
            loop {
                let outcome = prove(to_handle(address), &witness, [LARGE; 2]);
                if outcome.code != PROVER_OK {
                    return outcome.expect_error(PROVER_ERROR, "unknown or destroyed");
                }
                outcome.expect_valid::<Bn256>();
            }
        });
        thread::sleep(std::time::Duration::from_millis(50));
        groth16_prover_destroy(to_handle(address));
        proofs.join().expect("proofs");
    });
}
