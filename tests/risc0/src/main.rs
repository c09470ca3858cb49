//! Proves the circuits in the folder of the first argument through both drop-ins for risc0-groth16-sys, and has
//! risc0-groth16's verifier check the proofs.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use proofwarp_circom::{CurveId, Witness};
use risc0_groth16::{ProofJson, PublicInputsJson, Verifier, VerifyingKeyJson};
use risc0_groth16_sys::{ProverParams, SetupParams};
use risc0_groth16_sys_5::{Fp, Groth16Proof, ProveParams};
use serde_json::json;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).context("expected the folder of circuits")?;
    let mut proofs = 0;
    for entry in fs::read_dir(folder)? {
        let folder = entry?.path();
        if folder.join("public.json").exists() {
            proofs += prove_circuit(&folder).with_context(|| folder.display().to_string())?;
        }
    }
    ensure!(proofs > 0, "expected circuits of BN254, got none");
    println!("risc0-groth16 verifies {proofs} proofs");
    Ok(())
}

/// Proves the circuit in `folder` by both drop-ins, and returns the number of verified proofs.
fn prove_circuit(folder: &Path) -> anyhow::Result<usize> {
    let witness = Witness::open(folder.join("witness.wtns"))?;
    if witness.curve() != CurveId::Bn254 {
        return Ok(0);
    }
    let values = witness.values().as_flattened();
    verify(folder, &prove_by_paths(folder, values)?)?;
    verify(folder, &prove_by_bytes(folder, values)?)?;
    Ok(2)
}

/// Verifies `proof` with snarkjs's verification key and public signals.
fn verify(folder: &Path, proof: &str) -> anyhow::Result<()> {
    let [key, public] = ["verification_key.json", "public.json"].map(|file| fs::read_to_string(folder.join(file)));
    let key: VerifyingKeyJson = serde_json::from_str(&key?)?;
    let public = PublicInputsJson { values: serde_json::from_str(&public?)? };
    let proof: ProofJson = serde_json::from_str(proof)?;
    Verifier::from_json(proof, public, key)?.verify()
}

/// Proves by 0.1, as risc0-groth16 3 does.
fn prove_by_paths(folder: &Path, values: &[u8]) -> anyhow::Result<String> {
    let (out, mut setup) = (tempfile::tempdir()?, SetupParams::new(folder)?);
    setup.srs_path = folder.join("circuit.zkey").try_into()?;
    let output = ProverParams::new(out.path(), values.as_ptr())?;
    risc0_groth16_sys::prove(&output, &setup)?;
    Ok(fs::read_to_string(output.proof_path.as_path())?)
}

/// Proves by 5.0, and writes the limbs as risc0-groth16 5 reads them.
fn prove_by_bytes(folder: &Path, values: &[u8]) -> anyhow::Result<String> {
    let srs = fs::read(folder.join("circuit.zkey"))?;
    let params = ProveParams { pcoeffs: &[], fres: &[], srs: &srs };
    let Groth16Proof { a, b, c } = risc0_groth16_sys_5::prove(values, &params)?;
    let hex = |element: &Fp| element.v.iter().rev().fold("0x".to_owned(), |text, limb| format!("{text}{limb:08x}"));
    let [a, c] = [a, c].map(|point| [hex(&point[0]), hex(&point[1]), "1".to_owned()]);
    let b = [[hex(&b[0]), hex(&b[1])], [hex(&b[2]), hex(&b[3])]];
    Ok(json!({ "pi_a": a, "pi_b": b, "pi_c": c, "protocol": "groth16" }).to_string())
}
