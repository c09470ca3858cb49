//! What tests of proofs share.

#![allow(dead_code, reason = "each test file is a crate of its own and uses what it needs")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bellperson::groth16::{
    Parameters, Proof, SuprasealParameters, create_proof_batch, prepare_verifying_key, verify_proof,
};
use blstrs::{Bls12, Scalar};
use supraseal_c2_tests::{CASES, Chain, batch, bytes, folder, parameter_file, proof_file};

pub fn open(path: &Path) -> SuprasealParameters<Bls12> {
    SuprasealParameters::new(path.to_owned()).expect("parameters")
}

pub fn prove(
    circuits: Vec<Chain>,
    key: &SuprasealParameters<Bls12>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
) -> Vec<Proof<Bls12>> {
    create_proof_batch(circuits, key, r, s).expect("proofs")
}

/// Whether all proofs verify for their circuits' inputs.
pub fn verify(file: &Path, circuits: &[Chain], proofs: &[Proof<Bls12>]) -> bool {
    let key = Parameters::<Bls12>::read(std::fs::File::open(file).expect("file"), false).expect("parameters");
    let key = prepare_verifying_key(&key.vk);
    let pairs = circuits.iter().zip(proofs);
    pairs
        .into_iter()
        .all(|(circuit, proof)| verify_proof(&key, proof, &circuit.inputs()).expect("a key of the circuit"))
}

/// A batch's proofs verify and are bellperson's own.
pub fn equals_stock(key: &SuprasealParameters<Bls12>, case: usize, count: usize) {
    let (kind, links) = CASES[case];
    let (circuits, r, s) = batch(Chain::new(kind, links), count);
    let proofs = prove(circuits.clone(), key, r, s);
    assert!(verify(&parameter_file(&folder(), case), &circuits, &proofs), "{kind:?} of {links}, {count}");
    let expected = std::fs::read(proof_file(&folder(), case, count, 0)).expect("bellperson's proofs");
    assert_eq!(bytes(&proofs), expected, "{kind:?} of {links}, {count}");
}

/// What a call says when it panics.
pub fn panic_of<T>(call: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(call)) else { panic!("no panic where one is due") };
    panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "not a String".to_owned())
}
