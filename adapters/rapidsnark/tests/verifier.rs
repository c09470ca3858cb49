//! Calls the function of `verifier.h`, with good texts and with each that is wrong.

mod common;

use std::ffi::c_int;
use std::ptr::null;

use blstrs::Bls12;
use common::*;
use halo2curves::bn256::Bn256;
use proofwarp_circom::Groth16Engine;
use rapidsnark::*;

fn verify(proof: &str, public: &str, key: &str) -> (c_int, String) {
    let [proof, public, key] = [proof, public, key].map(c_string);
    let mut error = Buffer::new(LARGE);
    error.bytes[0] = 0;
    // SAFETY: texts end with terminators, and the buffer has this size.
    let code = unsafe { groth16_verify(proof.as_ptr(), public.as_ptr(), key.as_ptr(), error.start(), LARGE as _) };
    (code, error.text().to_owned())
}

#[track_caller]
fn expect(outcome: (c_int, String), code: c_int, text: &str) {
    assert!(outcome.0 == code && outcome.1.contains(text), "expected {code}, {text}; got {outcome:?}");
}

/// Returns proof, public signals and key.
fn texts<E: Groth16Engine>() -> [String; 3] {
    let handle = create_valid(&zkey::<E>());
    let outcome = prove(handle, &witness::<E>(3), [LARGE; 2]);
    groth16_prover_destroy(handle);
    [outcome.proof.text().to_owned(), outcome.public.text().to_owned(), verification_key::<E>()]
}

#[test]
fn codes_tell_valid_invalid_and_malformed() {
    let [proof, public, key] = texts::<Bn256>();
    expect(verify(&proof, &public, &key), VERIFIER_VALID_PROOF, "");
    // rapidsnark leaves the curve out.
    expect(verify(&proof.replace(",\"curve\":\"bn128\"", ""), &public, &key), VERIFIER_VALID_PROOF, "");
    expect(verify(&proof, "[\"7\"]", &key), VERIFIER_INVALID_PROOF, "");
    let swapped = proof.replace("pi_a", "pi_x").replace("pi_c", "pi_a").replace("pi_x", "pi_c");
    expect(verify(&swapped, &public, &key), VERIFIER_INVALID_PROOF, "");
    let malformed = [
        (verify("", &public, &key), "proof: JSON: text: expected a proof of snarkjs"),
        (verify("{\"pi_a\":[]}", &public, &key), "proof: JSON"),
        (verify(&proof.replace("groth16", "plonk"), &public, &key), "proof: protocol: protocol is not supported"),
        (verify(&proof.replacen("[\"", "[\"1", 1), &public, &key), "proof: pi_a"),
        (verify(&proof, "null", &key), "inputs: JSON: text: expected an array"),
        (verify(&proof, "[]", &key), "inputs: public signals: length: expected 1 signals"),
        (verify(&proof, "[\"x\"]", &key), "inputs: "),
        (verify(&proof, &public, "{}"), "verification_key: curve"),
        (verify(&proof, &public, &key.replace("bn128", "secp256k1")), "verification_key: curve"),
        (verify(&proof, &public, &verification_key::<Bls12>()), "of the key, got BN254"),
    ];
    for (outcome, text) in malformed {
        expect(outcome, VERIFIER_ERROR, text);
    }
    let r = "21888242871839275222246405745257275088548364400416034343698204186575808495617";
    expect(verify(&proof, &format!("[\"{r}\"]"), &key), VERIFIER_ERROR, "inputs: public signals: signal 0");
}

#[test]
fn proofs_of_bls12_381_verify() {
    let [proof, public, key] = texts::<Bls12>();
    expect(verify(&proof, &public, &key), VERIFIER_VALID_PROOF, "");
    expect(verify(&proof, "[\"7\"]", &key), VERIFIER_INVALID_PROOF, "");
}

#[test]
fn null_pointers_and_other_encodings_are_errors() {
    let text = c_string("{}");
    let latin = std::ffi::CString::new([0xe9]).expect("no terminator");
    let arguments = |index: usize, other| {
        let mut texts = [text.as_ptr(); 3];
        texts[index] = other;
        texts
    };
    for (index, name) in ["proof", "inputs", "verification_key"].into_iter().enumerate() {
        for (other, expected) in [(null(), "expected a pointer, got null"), (latin.as_ptr(), "expected UTF-8")] {
            let [proof, inputs, key] = arguments(index, other);
            let mut error = Buffer::new(LARGE);
            // SAFETY: pointers are null, or texts end with terminators; the buffer has this size.
            let code = unsafe { groth16_verify(proof, inputs, key, error.start(), LARGE as _) };
            expect((code, error.text().to_owned()), VERIFIER_ERROR, &format!("{name}: {expected}"));
        }
    }
    // SAFETY: null is allowed.
    let code = unsafe { groth16_verify(null(), null(), null(), std::ptr::null_mut(), 10) };
    assert_eq!(code, VERIFIER_ERROR);
}
