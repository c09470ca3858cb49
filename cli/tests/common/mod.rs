//! Files of a small circuit, and programs in an environment without settings of the project's.
#![allow(dead_code, reason = "each test file uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use halo2curves::bn256::Bn256;
use proofwarp_circom::{JsonText, VerificationKey, Zkey, verify_json};
use tempfile::TempDir;

pub const ZKEY: &[u8] = include_bytes!("../../src/doctor/data/multiplier.zkey");
/// Holds the witness with the values 1, 33, 3 and 11. The signals 33 and 3 are public.
pub const WTNS: &[u8] = include_bytes!("../../src/doctor/data/multiplier.wtns");

/// `public.json` of the witness.
pub const PUBLIC: [&str; 2] = ["33", "3"];

pub const PROOFWARP: &str = env!("CARGO_BIN_EXE_proofwarp");
pub const PROVER: &str = env!("CARGO_BIN_EXE_prover");

/// Returns a witness with 12 in place of 11, which breaks the circuit.
pub fn broken_witness() -> Vec<u8> {
    let mut bytes = WTNS.to_vec();
    let last = bytes.len() - 32;
    assert_eq!(bytes[last], 11);
    bytes[last] = 12;
    bytes
}

/// Returns a command that computes on the CPU.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PROOFWARP_") || name.starts_with("BELL")) {
        command.env_remove(name);
    }
    command.env("PROOFWARP_BACKEND", "cpu");
    command
}

/// A folder with the zkey and witnesses.
pub struct Files(pub TempDir);

impl Files {
    pub fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("a folder"));
        files.write("multiplier.zkey", ZKEY);
        files.write("witness.wtns", WTNS);
        files.write("broken.wtns", &broken_witness());
        files
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect(name);
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

/// Returns whether a proof verifies for public signals.
pub fn verifies(proof: &str, public: &str) -> bool {
    let zkey = Zkey::from_bytes("multiplier.zkey", ZKEY.to_vec()).expect("a key");
    let key = VerificationKey::<Bn256>::from_zkey(&zkey).expect("a key").to_json();
    let [key, public, proof] = [&key[..], public, proof].map(|text| JsonText { file: "test", text });
    verify_json(key, public, proof).expect("a proof")
}
