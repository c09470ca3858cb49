//! Proves through the drop-in's surface, as risc0-groth16 5 calls it.

#[path = "../../circom/tests/common/mod.rs"]
#[allow(clippy::needless_for_each, reason = "proofwarp-circom's own tests")]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use blstrs::Bls12;
use common::generator;
use halo2curves::bn256::{Bn256, Fr};
use num_bigint::BigUint;
use proofwarp_circom::{
    AffinePoint, CurveId, JsonText, Proof, VerificationKey, Witness, Zkey, public_from_json, verify,
};
use rayon::prelude::*;
use risc0_groth16_sys::{Fp, Groth16Proof, ProveParams, prove};

const CONSTRAINTS: usize = 14;

fn params(srs: &[u8]) -> ProveParams<'_> {
    ProveParams { pcoeffs: &[], fres: &[], srs }
}

fn zkey(constraints: usize) -> Vec<u8> {
    generator::zkey::<Bn256>(constraints).to_bytes()
}

/// Returns the values of the witness that begins with `first`, as risc0-groth16 has them.
fn values(constraints: usize, first: u64) -> Vec<u8> {
    let mut file = generator::witness::<Bn256>(constraints, first.into());
    file.section(2).clone()
}

/// Returns the point of the coordinates `elements`, as the original crate's caller reads them.
fn point<P: AffinePoint>(elements: &[Fp]) -> P {
    let integers: Vec<_> = elements.iter().map(|element| BigUint::new(element.v.to_vec())).collect();
    P::from_integers(&integers).expect("a point")
}

fn is_valid(key: &VerificationKey<Bn256>, public: &[Fr], proof: &Groth16Proof) -> bool {
    let proof = Proof::<Bn256> { a: point(&proof.a), b: point(&proof.b), c: point(&proof.c) };
    verify(key, public, &proof).expect("points of the subgroup")
}

/// Proves the `values` and checks the proof with the key of `srs`.
#[track_caller]
fn prove_and_verify(values: &[u8], srs: &[u8]) {
    let proof = prove(values, &params(srs)).expect("a proof");
    let key = Zkey::from_bytes("generated.zkey", srs.to_vec()).expect("a zkey");
    let key = VerificationKey::from_zkey(&key).expect("a key");
    let witness = Witness::from_values("values", CurveId::Bn254, values.to_vec()).expect("values");
    let public = witness.public_signals::<Bn256>(1).expect("signals");
    assert!(is_valid(&key, &public, &proof) && !is_valid(&key, &[public[0] + Fr::one()], &proof));
}

fn error(values: &[u8], srs: &[u8]) -> String {
    prove(values, &params(srs)).expect_err("an error").to_string()
}

/// Threads and rayon's workers prove with three keys at changing addresses. The cache keeps two of them.
#[test]
fn proofs_verify() {
    let zkeys = [14, 30, 62].map(|constraints| (constraints, zkey(constraints)));
    for first in 1..4 {
        let (constraints, srs) = &zkeys[0];
        prove_and_verify(&values(*constraints, first), &srs.clone());
    }
    (0..12_u64).into_par_iter().for_each(|first| {
        let (constraints, srs) = &zkeys[first as usize % 3];
        prove_and_verify(&values(*constraints, first), &srs.clone());
    });
}

#[test]
fn wrong_witnesses() {
    let srs = zkey(CONSTRAINTS);
    let broken = |change: fn(&mut Vec<u8>)| {
        let mut values = values(CONSTRAINTS, 3);
        change(&mut values);
        error(&values, &srs)
    };
    assert!(broken(|values| values[32 * 7] ^= 1).starts_with("witness: the proof does not verify"));
    let text = broken(|values| values[32 * 7..32 * 8].copy_from_slice(CurveId::Bn254.scalar_prime()));
    assert_eq!(text, "witness: values: value 7: expected less than r, got one that is not");
    assert!(broken(|values| values[0] = 2).starts_with("witness: values: first value: expected 1"));
    assert!(broken(|values| values.truncate(32 * 15)).ends_with("expected the 16 values of the key's signals, got 15"));
    assert!(broken(|values| values.truncate(32 * 15 + 1)).contains("length: expected 15 * 32 bytes, got 481"));
    assert!(broken(Vec::clear).contains("first value: expected 1, got none"));
}

#[test]
fn wrong_zkeys() {
    let (values, whole) = (values(CONSTRAINTS, 3), zkey(CONSTRAINTS));
    let text = error(&values, &generator::zkey::<Bls12>(CONSTRAINTS).to_bytes());
    assert!(text.contains("expected the curve"), "{text}");
    for length in [0, 4, 12, 13, 200, whole.len() / 2, whole.len() - 1] {
        let text = error(&values, &whole[..length]);
        assert!(text.starts_with("srs: ") && text.contains("expected"), "{text}");
    }
    // A key that is kept says nothing of another one, whose points of A are not on the curve.
    prove_and_verify(&values, &whole);
    let mut broken = generator::zkey::<Bn256>(CONSTRAINTS);
    broken.section(10).push(0);
    broken.section(5)[0] ^= 1;
    let text = error(&values, &broken.to_bytes());
    assert!(text.starts_with("srs: section 5 (A)"), "{text}");
}

#[test]
#[ignore = "tests/circom.sh makes the files"]
fn proofs_of_real_circuits_verify() {
    let folder = std::env::var("PROOFWARP_CIRCOM_FILES").expect("PROOFWARP_CIRCOM_FILES, as tests/risc0.sh sets it");
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let circuits: Vec<PathBuf> = entries.filter(|path| path.join("public.json").exists()).collect();
    let bn254 = circuits.iter().filter(|path| !path.to_string_lossy().contains("bls12381"));
    let count = bn254.map(|path| prove_circuit(path)).count();
    assert!(count > 0, "no circuits");
}

/// Proves the circuit in `folder`, and verifies the proof with snarkjs's key and public signals.
fn prove_circuit(folder: &Path) {
    let read = |file: &str| fs::read_to_string(folder.join(file)).expect(file);
    let witness = Witness::open(folder.join("witness.wtns")).expect("a witness");
    let srs = fs::read(folder.join("circuit.zkey")).expect("a zkey");
    let proof = prove(witness.values().as_flattened(), &params(&srs)).expect("a proof");
    let [key, public] = ["verification_key.json", "public.json"].map(|file| (file, read(file)));
    let [key, public] = [&key, &public].map(|(file, text)| JsonText { file, text });
    let key = VerificationKey::from_json(key).expect("a key");
    let public = public_from_json::<Bn256>(public).expect("signals");
    assert!(is_valid(&key, &public, &proof));
    println!("{}: a proof of {} values", folder.display(), witness.len());
}

#[cfg(feature = "setup")]
#[test]
fn setup_says_that_nothing_is_needed() {
    let mut params =
        risc0_groth16_sys::SetupParams { srs: &[], fuzzed_results_out: &mut [], preprocessed_coeffs_out: &mut [] };
    let error = risc0_groth16_sys::setup(&mut params).expect_err("no setup");
    assert!(error.to_string().contains("needs no preprocessed files"), "{error}");
}
