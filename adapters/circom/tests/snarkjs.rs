//! Reads and verifies the files that tests/circom.sh has made by circom and snarkjs.

mod common;

use std::path::{Path, PathBuf};

use blstrs::Bls12;
use common::reference::{Blinding, products, prove, scalars};
use ff::Field;
use group::Group;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256::Bn256;
use proofwarp::Accelerator;
use proofwarp_circom::{
    CurveId, Groth16Engine, JsonText, Proof, ProveOptions, ProvingKey, VerificationKey, Witness, Zkey,
    public_from_json, public_to_json, verify, verify_json,
};

/// Returns the folders of circuits; the folder that has them is in a variable.
fn circuits() -> Vec<PathBuf> {
    let folder = std::env::var("PROOFWARP_CIRCOM_FILES").expect("PROOFWARP_CIRCOM_FILES, as tests/circom.sh sets it");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let circuits: Vec<_> = entries.filter(|path| path.join("public.json").exists()).collect();
    assert!(!circuits.is_empty(), "no circuits");
    circuits
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).expect(file)
}

fn named<'a>(file: &'a str, text: &'a str) -> JsonText<'a> {
    JsonText { file, text }
}

/// Runs `E`'s checks for each circuit of its curve.
fn for_each_circuit(bn254: fn(&Path, &Zkey), bls12_381: fn(&Path, &Zkey)) {
    for folder in circuits() {
        let zkey = Zkey::open(folder.join("circuit.zkey")).expect("a zkey");
        println!("{}: {:?}, {} coefficients", folder.display(), zkey.header(), zkey.coefficients().len());
        match zkey.header().curve {
            CurveId::Bn254 => bn254(&folder, &zkey),
            CurveId::Bls12_381 => bls12_381(&folder, &zkey),
        }
    }
}

fn check_json<E: Groth16Engine>(folder: &Path, zkey: &Zkey) {
    let texts = ["verification_key.json", "public.json", "proof.json"].map(|file| read(folder, file));
    let [key_text, public_text, proof_text] = [0, 1, 2].map(|index| named("a file of snarkjs", &texts[index]));
    assert!(verify_json(key_text, public_text, proof_text).expect("files of snarkjs"));
    let key = VerificationKey::<E>::from_json(key_text).expect("a key");
    assert_eq!(key, VerificationKey::from_zkey(zkey).expect("a key"));
    let proof = Proof::<E>::from_json(proof_text).expect("a proof");
    let public = public_from_json::<E>(public_text).expect("signals");
    assert_eq!([public_to_json::<E>(&public), proof.to_json()], [texts[1].clone(), texts[2].clone()]);
    check_key_text(&key.to_json(), &texts[0]);
    let mut other = public.clone();
    other[0] += E::Fr::ONE;
    assert!(!verify(&key, &other, &proof).expect("points of the subgroup"));
    let witness = Witness::open(folder.join("witness.wtns")).expect("a witness");
    witness.check_against(zkey.header()).expect("the key's witness");
    assert_eq!(witness.public_signals::<E>(zkey.header().public_signals).expect("signals"), public);
}

/// Compares a key's text with snarkjs's, which has one field more.
fn check_key_text(ours: &str, theirs: &str) {
    let start = theirs.find(" \"vk_alphabeta_12\"").expect("the field");
    let end = theirs.find(" \"IC\"").expect("the field");
    assert_eq!(ours, [&theirs[..start], &theirs[end..]].concat());
}

#[test]
#[ignore = "tests/circom.sh makes the files"]
fn texts_are_those_of_snarkjs() {
    for_each_circuit(check_json::<Bn256>, check_json::<Bls12>);
}

/// The key's points and coefficients fit each other: e(Σ w·A, Σ w·B₂) is what the rows say. With B as points of both
/// groups, Σ w·B₁ has the logarithm of Σ w·B₂.
fn check_contents<E: Groth16Engine>(folder: &Path, zkey: &Zkey) {
    zkey.check_points().expect("points of the curve");
    let witness = Witness::open(folder.join("witness.wtns")).expect("a witness");
    let witness = scalars::<E::Fr>(&witness);
    let b1 = zkey.b1().to_points::<E::G1Affine>().expect("points");
    let b2 = zkey.b2().to_points::<E::G2Affine>().expect("points");
    let sum1 = b1.iter().zip(&witness).fold(E::G1::identity(), |sum, (point, value)| sum + *point * value);
    let sum2 = b2.iter().zip(&witness).fold(E::G2::identity(), |sum, (point, value)| sum + *point * value);
    let left = E::pairing(&sum1.into(), &E::G2Affine::generator());
    assert!(left == E::pairing(&E::G1Affine::generator(), &sum2.into()));
    let [a, b] = products(zkey, &witness);
    // Rows of public signals are the last ones of A that are not empty: 1 first, then each signal.
    let public = &witness[..=zkey.header().public_signals as usize];
    let end = zkey.coefficients().iter().map(|coefficient| coefficient.constraint as usize + 1).max().expect("rows");
    assert_eq!(a[end - public.len()..end], *public);
    assert!(b[end - public.len()..].iter().all(|value| bool::from(value.is_zero())));
}

#[test]
#[ignore = "tests/circom.sh makes the files"]
fn points_and_coefficients_fit() {
    for_each_circuit(check_contents::<Bn256>, check_contents::<Bls12>);
}

/// Largest domain that the reference proves on, 2^13: its plain sums take some ten seconds there.
const MAX_REFERENCE_DOMAIN: u32 = 1 << 13;

/// Proofs by the reference verify, whatever r and s are; one with another private value, or for other signals, does not.
fn check_reference<E: Groth16Engine>(folder: &Path, zkey: &Zkey) {
    if zkey.header().domain_size > MAX_REFERENCE_DOMAIN {
        return;
    }
    let key = VerificationKey::<E>::from_zkey(zkey).expect("a key");
    let witness = Witness::open(folder.join("witness.wtns")).expect("a witness");
    let public = witness.public_signals::<E>(zkey.header().public_signals).expect("signals");
    let mut values = scalars::<E::Fr>(&witness);
    let random = Blinding { r: E::Fr::from(0x1234_5678_9abc_def0).square(), s: -E::Fr::from(0xfedc_ba98).square() };
    let proof = prove::<E>(zkey, &values, random);
    assert!(verify(&key, &public, &proof).expect("points of the subgroup"));
    let unblinded = prove::<E>(zkey, &values, Blinding { r: E::Fr::ZERO, s: E::Fr::ZERO });
    assert!(verify(&key, &public, &unblinded).expect("points of the subgroup"));
    assert_ne!(proof, unblinded);
    *values.last_mut().expect("a value") += E::Fr::ONE;
    let wrong = prove::<E>(zkey, &values, random);
    assert!(!verify(&key, &public, &wrong).expect("points of the subgroup"));
}

#[test]
#[ignore = "tests/circom.sh makes the files"]
fn proofs_of_the_reference_verify() {
    for_each_circuit(check_reference::<Bn256>, check_reference::<Bls12>);
}

/// The prover's proofs verify, and with given r and s they are the reference's. `our_proof.json` and `our_public.json`
/// are left for snarkjs to verify.
fn check_prover<E: Groth16Engine>(folder: &Path, zkey: &Zkey) {
    let witness = Witness::open(folder.join("witness.wtns")).expect("a witness");
    let chosen = Accelerator::from_env().expect("a backend");
    for accelerator in [chosen.with_devices(Vec::new()), chosen] {
        let key = ProvingKey::<E>::new(&accelerator, zkey).expect("a key");
        let proof = key.prove(&witness).expect("a proof");
        let public = key.public_signals(&witness).expect("signals");
        std::fs::write(folder.join("our_proof.json"), proof.to_json()).expect("a folder to write to");
        std::fs::write(folder.join("our_public.json"), public_to_json::<E>(&public)).expect("a folder to write to");
        if zkey.header().domain_size > MAX_REFERENCE_DOMAIN {
            continue;
        }
        let (r, s) = (-E::Fr::from(0x0123_4567), E::Fr::from(0x89ab_cdef).square());
        let options = ProveOptions { blinding: Some(&[proofwarp_circom::Blinding { r, s }]), ..Default::default() };
        let ours = key.prove_with(&[&witness], options).expect("a proof");
        assert_eq!(ours, [prove::<E>(zkey, &scalars(&witness), Blinding { r, s })]);
    }
}

#[test]
#[ignore = "tests/circom.sh makes the files"]
fn proofs_equal_those_of_the_reference() {
    for_each_circuit(check_prover::<Bn256>, check_prover::<Bls12>);
}

#[test]
#[ignore = "tests/circom.sh makes the files"]
fn plonk_and_fflonk_keys_are_refused() {
    let folder = PathBuf::from(std::env::var("PROOFWARP_CIRCOM_FILES").expect("PROOFWARP_CIRCOM_FILES"));
    for (file, name) in [("plonk.zkey", "PLONK (2)"), ("fflonk.zkey", "FFLONK (10)")] {
        let error = Zkey::open(folder.join("multiplier").join(file)).expect_err("another protocol").to_string();
        assert!(error.contains(file) && error.contains("section 1 (protocol)") && error.ends_with(name), "{error}");
    }
}
