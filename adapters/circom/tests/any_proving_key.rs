//! Proves with keys of both curves through the type that hides the curve.

mod common;

use blstrs::Bls12;
use common::generator;
use halo2curves::bn256::Bn256;
use proofwarp::Accelerator;
use proofwarp_circom::{AnyProvingKey, Error, Groth16Engine, JsonText, ProofTexts, Witness, Zkey, verify_json};

const CONSTRAINTS: usize = 6;

fn open_key<E: Groth16Engine>() -> AnyProvingKey {
    let zkey = Zkey::from_bytes("generated.zkey", generator::zkey::<E>(CONSTRAINTS).to_bytes()).expect("a zkey");
    AnyProvingKey::new(&Accelerator::from_env().expect("a backend"), &zkey).expect("a key")
}

fn open_witness<E: Groth16Engine>(first: u64) -> Witness {
    let bytes = generator::witness::<E>(CONSTRAINTS, E::Fr::from(first)).to_bytes();
    Witness::from_bytes("generated.wtns", bytes).expect("a witness")
}

fn verifies(key: &AnyProvingKey, texts: &ProofTexts) -> bool {
    let named = |file, text| JsonText { file, text };
    let key = key.verification_key_json();
    verify_json(named("key", &key), named("public", &texts.public), named("proof", &texts.proof)).expect("points")
}

fn check<E: Groth16Engine>() {
    let key = open_key::<E>();
    assert_eq!((key.header().curve, key.header().signals), (E::CURVE, 8));
    let texts = key.prove_to_json(&open_witness::<E>(3)).expect("a proof");
    assert!(verifies(&key, &texts) && texts.proof.contains(E::CURVE.json_name()));
    let witnesses = [open_witness::<E>(4), open_witness::<E>(5)];
    let batch = key.prove_batch_to_json(&[&witnesses[0], &witnesses[1]], true, None).expect("proofs");
    assert!(batch.len() == 2 && batch.iter().all(|texts| verifies(&key, texts)));
    assert_ne!(batch[0].public, batch[1].public);
}

#[test]
fn texts_of_both_curves_verify() {
    check::<Bn256>();
    check::<Bls12>();
}

#[test]
fn errors_are_those_of_the_curves_key() {
    let key = open_key::<Bn256>();
    let error = key.prove_to_json(&open_witness::<Bls12>(3)).expect_err("another curve");
    assert!(matches!(error, Error::OtherCurve { .. }), "{error}");
    let mut file = generator::witness::<Bn256>(CONSTRAINTS, 3.into());
    file.section(2)[32 * 4] ^= 1;
    let witness = Witness::from_bytes("changed.wtns", file.to_bytes()).expect("a witness");
    let error = key.prove_to_json(&witness).expect_err("an invalid proof");
    assert!(matches!(error, Error::InvalidProof { .. }), "{error}");
    let texts = key.prove_batch_to_json(&[&witness], false, None).expect("an unverified proof");
    assert!(!verifies(&key, &texts[0]));
    let error = key.prove_batch_to_json(&[&witness], true, Some(&|| true)).expect_err("an abort");
    assert!(matches!(error, Error::Engine(proofwarp::Error::Aborted)), "{error}");
}
