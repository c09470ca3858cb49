//! Turns verification off, which is read once a process: a test file of its own.

mod common;

use common::circom::generator;
use common::*;
use halo2curves::bn256::Bn256;
use rapidsnark::*;

#[test]
fn proofs_are_not_verified_if_the_variable_says_so() {
    // SAFETY: this program has one test, and no other thread yet.
    unsafe { std::env::set_var("PROOFWARP_VERIFY", "0") };
    let handle = create_valid(&zkey::<Bn256>());
    let mut file = generator::witness::<Bn256>(CONSTRAINTS, 3.into());
    file.section(2)[32 * 5] ^= 1;
    let outcome = prove(handle, &file.to_bytes(), [LARGE; 2]);
    assert_eq!(outcome.code, PROVER_OK);
    let texts = [outcome.proof.text(), outcome.public.text(), &verification_key::<Bn256>()].map(c_string);
    let [proof, public, key] = [0, 1, 2].map(|index| texts[index].as_ptr());
    // SAFETY: texts end with terminators.
    let code = unsafe { groth16_verify(proof, public, key, std::ptr::null_mut(), 0) };
    assert_eq!(code, VERIFIER_INVALID_PROOF);
    groth16_prover_destroy(handle);
}
