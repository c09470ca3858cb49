//! A device's proofs are the CPU's to the last byte, where the randomness is the same.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use proofwarp::Accelerator;
use proofwarp_halo2::Kind;

use crate::described::{Described, Shape, instances_of, keys, prove};

/// Names the file to which a child, which proves on the CPU, writes its proofs.
const FILE: &str = "HALO2_TEST_PROOFS";

#[test]
fn same_bytes() {
    if let Some(file) = env::var_os(FILE) {
        return fs::write(file, proofs().concat()).expect("a file");
    }
    if Accelerator::global().expect("an accelerator").devices().is_empty() {
        return eprintln!("skipped: a device's proofs beside the CPU's, since there is no device");
    }
    let ours = proofs();
    let folder = tempfile::tempdir().expect("a folder");
    assert!(ours.concat() == on_the_cpu(&folder.path().join("proofs")), "a proof differs");
    // Not the same because nothing depends on anything.
    assert!(ours[0] != ours[1] && ours[0].len() == ours[1].len());
}

/// Proofs of several shapes and sizes, by both openings; the first two differ in randomness alone.
fn proofs() -> Vec<Vec<u8>> {
    let phases = Shape { later_phases: 1, says_phases: true, ..Shape::base() };
    let of = |shape: &Shape, k: u32, circuits: u64, kind: Kind, seed: u64| {
        let circuits: Vec<_> = (1..=circuits).map(|seed| Described::new(shape, seed)).collect();
        prove(kind, k, &keys(shape, k), &circuits, &instances_of(&circuits), seed).expect("a proof")
    };
    vec![
        of(&Shape::base(), 6, 1, Kind::Shplonk, 1),
        of(&Shape::base(), 6, 1, Kind::Shplonk, 2),
        of(&Shape::base(), 9, 2, Kind::Gwc, 3),
        of(&phases, 11, 1, Kind::Shplonk, 4),
    ]
}

/// What this test gives in a process of its own, whose accelerator is the CPU.
fn on_the_cpu(file: &Path) -> Vec<u8> {
    let mut child = Command::new(env::current_exe().expect("this program"));
    child.args(["--exact", "backends::same_bytes"]).env("PROOFWARP_BACKEND", "cpu").env(FILE, file);
    let output = child.output().expect("a child");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    fs::read(file).expect("proofs")
}
