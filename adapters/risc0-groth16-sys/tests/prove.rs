//! Proves through the drop-in's surface, as risc0-groth16 3 calls it.

#[path = "../../circom/tests/common/mod.rs"]
#[allow(clippy::needless_for_each, reason = "proofwarp-circom's own tests")]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blstrs::Bls12;
use common::generator;
use halo2curves::bn256::Bn256;
use proofwarp_circom::{CurveId, JsonText, VerificationKey, Witness, Zkey, verify_json};
use rayon::prelude::*;
use risc0_groth16_sys::{ProverParams, SetupParams, WitnessParams, prove};
use tempfile::TempDir;

const CONSTRAINTS: usize = 14;

/// A folder with a generated zkey, which gets proofs.
struct Folder(TempDir);

impl Folder {
    fn new(zkey: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("stark_verify_final.zkey"), zkey).expect("a file");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn setup(&self) -> SetupParams {
        SetupParams::new(self.path()).expect("paths")
    }

    fn output(&self, witness: &[u8]) -> ProverParams {
        ProverParams::new(self.path(), witness.as_ptr()).expect("paths")
    }

    fn error(&self, witness: &[u8]) -> String {
        prove(&self.output(witness), &self.setup()).expect_err("an error").to_string()
    }
}

fn zkey(constraints: usize) -> Vec<u8> {
    generator::zkey::<Bn256>(constraints).to_bytes()
}

/// Returns the values of the witness that begins with `first`, as risc0-groth16 has them.
fn values(constraints: usize, first: u64) -> Vec<u8> {
    let mut file = generator::witness::<Bn256>(constraints, first.into());
    file.section(2).clone()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

/// Checks the proof and the public signals in files with `key`.
#[track_caller]
fn verify(key: &str, output: &ProverParams) {
    let [public, proof] = [&output.public_path, &output.proof_path].map(|path| read(path.as_path()));
    let [key, public, proof] = [("key", key), ("public.json", &public), ("proof.json", &proof)];
    let texts = [key, public, proof].map(|(file, text)| JsonText { file, text });
    assert!(verify_json(texts[0], texts[1], texts[2]).expect("files of snarkjs's formats"));
}

fn verification_key(zkey: &[u8]) -> String {
    let zkey = Zkey::from_bytes("generated.zkey", zkey.to_vec()).expect("a zkey");
    VerificationKey::<Bn256>::from_zkey(&zkey).expect("a key").to_json()
}

#[test]
fn paths_are_those_of_stock() {
    let (root, nul) = (Path::new("root"), Path::new("ro\0ot"));
    let setup = SetupParams::new(root).expect("paths");
    let paths = [&setup.pcoeffs_path, &setup.fres_path, &setup.srs_path].map(|path| path.as_path().to_owned());
    let names = ["preprocessed_coeffs.bin", "fuzzed_msm_results.bin", "stark_verify_final.zkey"];
    assert_eq!(paths, names.map(|name| root.join(name)));
    assert_eq!(WitnessParams::new(root).graph_path, root.join("stark_verify_graph.bin"));
    let output = ProverParams::new(root, std::ptr::null()).expect("paths");
    let paths = [&output.public_path, &output.proof_path].map(|path| path.as_path().to_owned());
    assert_eq!(paths, ["public.json", "proof.json"].map(|name| root.join(name)));
    SetupParams::new(nul).expect_err("a NUL byte");
    ProverParams::new(nul, std::ptr::null()).expect_err("a NUL byte");
}

#[test]
fn proofs_verify() {
    let zkeys = [zkey(CONSTRAINTS), zkey(30)];
    let folder = Folder::new(&zkeys[0]);
    for first in 1..4 {
        let values = values(CONSTRAINTS, first);
        let output = folder.output(&values);
        prove(&output, &folder.setup()).expect("a proof");
        verify(&verification_key(&zkeys[0]), &output);
    }
    // Another program sets the paths.
    let (mut setup, other) = (folder.setup(), folder.path().join("other.zkey"));
    fs::write(&other, &zkeys[1]).expect("a file");
    setup.srs_path = other.as_path().try_into().expect("a path");
    let values = values(30, 5);
    let mut output = folder.output(&values);
    output.proof_path = folder.path().join("other_proof.json").try_into().expect("a path");
    prove(&output, &setup).expect("a proof");
    verify(&verification_key(&zkeys[1]), &output);
}

/// Threads and rayon's workers prove with one key, and a replaced file is read anew.
#[test]
fn keys_are_kept_until_the_file_changes() {
    let folder = Folder::new(&zkey(CONSTRAINTS));
    std::thread::sleep(Duration::from_millis(3100));
    let key = verification_key(&zkey(CONSTRAINTS));
    (1..9_u64).into_par_iter().for_each(|first| {
        let (values, out) = (values(CONSTRAINTS, first), tempfile::tempdir().expect("a folder"));
        let output = ProverParams::new(out.path(), values.as_ptr()).expect("paths");
        prove(&output, &folder.setup()).expect("a proof");
        verify(&key, &output);
    });
    fs::write(folder.path().join("stark_verify_final.zkey"), zkey(30)).expect("another zkey");
    let values = values(30, 3);
    let output = folder.output(&values);
    prove(&output, &folder.setup()).expect("a proof");
    verify(&verification_key(&zkey(30)), &output);
}

#[test]
fn wrong_witnesses() {
    let folder = Folder::new(&zkey(CONSTRAINTS));
    let broken = |change: fn(&mut Vec<u8>)| {
        let mut values = values(CONSTRAINTS, 3);
        change(&mut values);
        folder.error(&values)
    };
    assert!(broken(|values| values[32 * 7] ^= 1).starts_with("witness: the proof does not verify"));
    let error = broken(|values| values[32 * 7..32 * 8].copy_from_slice(CurveId::Bn254.scalar_prime()));
    assert_eq!(error, "witness: values: value 7: expected less than r, got one that is not");
    assert!(broken(|values| values[0] = 2).starts_with("witness: values: first value: expected 1"));
    let output = ProverParams::new(folder.path(), std::ptr::null()).expect("paths");
    let error = prove(&output, &folder.setup()).expect_err("null").to_string();
    assert_eq!(error, "witness: expected a pointer to its values, got null");
    assert!(!folder.path().join("proof.json").exists() && !folder.path().join("public.json").exists());
}

#[test]
fn wrong_files() {
    let values = values(CONSTRAINTS, 3);
    let whole = zkey(CONSTRAINTS);
    let error = Folder::new(&generator::zkey::<Bls12>(CONSTRAINTS).to_bytes()).error(&values);
    assert!(error.contains("stark_verify_final.zkey: ") && error.contains("expected the curve"), "{error}");
    let error = Folder::new(&whole[..whole.len() / 2]).error(&values);
    assert!(error.contains("stark_verify_final.zkey: ") && error.contains("expected"), "{error}");
    let folder = Folder::new(&whole);
    let mut output = folder.output(&values);
    output.proof_path = folder.path().join("missing/proof.json").try_into().expect("a path");
    let error = prove(&output, &folder.setup()).expect_err("no folder").to_string();
    assert!(error.ends_with("missing/proof.json: cannot be written"), "{error}");
    fs::remove_file(folder.path().join("stark_verify_final.zkey")).expect("a file");
    assert!(folder.error(&values).ends_with("stark_verify_final.zkey: cannot be read"));
    fs::create_dir(folder.path().join("stark_verify_final.zkey")).expect("a folder");
    assert!(folder.error(&values).contains("stark_verify_final.zkey: cannot be read: expected a regular file"));
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

/// Proves the circuit in `folder`, and compares the public signals with snarkjs's.
fn prove_circuit(folder: &Path) {
    let witness = Witness::open(folder.join("witness.wtns")).expect("a witness");
    let (mut setup, out) = (SetupParams::new(folder).expect("paths"), tempfile::tempdir().expect("a folder"));
    setup.srs_path = folder.join("circuit.zkey").try_into().expect("a path");
    let output = ProverParams::new(out.path(), witness.values().as_flattened().as_ptr()).expect("paths");
    prove(&output, &setup).expect("a proof");
    verify(&read(&folder.join("verification_key.json")), &output);
    assert_eq!(read(output.public_path.as_path()), read(&folder.join("public.json")));
    println!("{}: a proof of {} values", folder.display(), witness.len());
}

#[cfg(feature = "setup")]
#[test]
fn setup_says_that_nothing_is_needed() {
    let error = risc0_groth16_sys::setup(&SetupParams::new("root".as_ref()).expect("paths")).expect_err("no setup");
    assert!(error.to_string().contains("needs no preprocessed files"), "{error}");
}
