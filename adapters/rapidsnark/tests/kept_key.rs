//! Checks which key the functions keep that take a zkey for each proof. The process has one such key, so this is the only
//! test of its program.

mod common;

use common::circom::generator;
use common::*;
use halo2curves::bn256::{Bn256, Fr};
use rapidsnark::*;

const CONSTRAINTS: usize = 20;

fn prove_once(zkey: &[u8], witness: &[u8]) -> Outcome {
    Outcome::of_call([LARGE, LARGE], |[proof, public, error], [proof_size, public_size], size| {
        let (zkey, zkey_size) = (zkey.as_ptr().cast(), zkey.len() as u64);
        let (start, bytes) = (witness.as_ptr().cast(), witness.len() as u64);
        // SAFETY: the buffers have these sizes.
        unsafe { groth16_prover(zkey, zkey_size, start, bytes, proof, proof_size, public, public_size, error, size) }
    })
}

/// A zkey with a point of section 9 off the curve shows whether its points are read: its identity is that of the good one.
#[test]
fn the_last_key_is_kept() {
    let good = generator::zkey::<Bn256>(CONSTRAINTS);
    let damaged = good.changed(9, |points| points[0] ^= 1);
    let witness = generator::witness::<Bn256>(CONSTRAINTS, Fr::from(3)).to_bytes();
    prove_once(&damaged, &witness).expect_error(PROVER_ERROR, "section 9");
    assert_eq!(prove_once(&good.to_bytes(), &witness).code, PROVER_OK);
    assert_eq!(prove_once(&damaged, &witness).code, PROVER_OK, "by the key that is kept");
    let other = generator::zkey::<Bn256>(2 * CONSTRAINTS).to_bytes();
    let others_witness = generator::witness::<Bn256>(2 * CONSTRAINTS, Fr::from(3)).to_bytes();
    assert_eq!(prove_once(&other, &witness).code, PROVER_INVALID_WITNESS_LENGTH);
    assert_eq!(prove_once(&damaged, &witness).code, PROVER_OK, "a call that fails before it loads removes no key");
    assert_eq!(prove_once(&other, &others_witness).code, PROVER_OK);
    assert_eq!(prove_once(&damaged, &witness).code, PROVER_ERROR, "the key of another circuit took its place");
    // The value of the first coefficient is another one. The key is kept, and replaced when the good zkey comes.
    let wrong = good.changed(4, |entries| entries[16] ^= 1);
    prove_once(&wrong, &witness).expect_error(PROVER_ERROR, "does not verify");
    assert_eq!(prove_once(&good.to_bytes(), &witness).code, PROVER_OK);
}
