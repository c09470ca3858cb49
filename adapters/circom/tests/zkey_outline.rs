//! Reads the headers of zkeys, alone, from memory and from files, and breaks them.

mod common;

use std::io::Write as _;

use blstrs::Bls12;
use common::{PUBLIC, zkey};
use halo2curves::bn256::Bn256;
use proofwarp_circom::{Groth16Engine, Result, Zkey, ZkeyHeader};

/// Reads `bytes` from a file.
fn open(bytes: &[u8]) -> Result<ZkeyHeader> {
    let mut file = tempfile::Builder::new().suffix(".zkey").tempfile().expect("a file");
    file.write_all(bytes).expect("a write");
    ZkeyHeader::open(file.path())
}

fn equals_that_of_the_zkey<E: Groth16Engine>() {
    let bytes = zkey::<E>().to_bytes();
    let expected = *Zkey::from_bytes("good.zkey", bytes.clone()).expect("a zkey").header();
    assert_eq!(expected.public_signals, PUBLIC);
    assert_eq!(ZkeyHeader::from_bytes("good.zkey", &bytes).expect("a header"), expected);
    assert_eq!(open(&bytes).expect("a header"), expected);
}

#[test]
fn headers_are_those_of_the_zkeys() {
    equals_that_of_the_zkey::<Bn256>();
    equals_that_of_the_zkey::<Bls12>();
}

/// Every zkey that is cut is refused, for the whole file is needed to prove.
#[test]
fn truncated_files_are_refused() {
    let bytes = zkey::<Bn256>().to_bytes();
    for length in 0..bytes.len() {
        let error = open(&bytes[..length]).expect_err("a truncated file").to_string();
        assert!(error.contains(".zkey: ") && error.contains("expected"), "{length}: {error}");
        assert!(ZkeyHeader::from_bytes("cut.zkey", &bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn errors_name_the_section() {
    let file = zkey::<Bn256>();
    let mut repeated = file.clone();
    repeated.sections.push(file.sections[1].clone());
    let mut missing = file.clone();
    missing.sections.remove(0);
    let cases = [
        (repeated.to_bytes(), "section 2 (header): occurrences: expected one, got more"),
        (missing.to_bytes(), "section 1 (protocol): occurrences: expected one, got none"),
        (file.changed(1, |protocol| protocol[0] = 2), "PLONK (2)"),
        (
            file.changed(2, |header| header.resize(5000, 0)),
            "length of section number 1: expected at most 4096 bytes, got 5000",
        ),
        (file.changed(2, |header| header[4] ^= 1), "section 2 (header): base field is not supported"),
        (b"wtns".to_vec(), "magic: expected zkey, got wtns"),
    ];
    for (bytes, expected) in cases {
        let error = open(&bytes).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error} lacks {expected}");
    }
    let error = ZkeyHeader::open("/nowhere/circuit.zkey").expect_err("no file").to_string();
    assert!(error.starts_with("/nowhere/circuit.zkey: cannot be read"), "{error}");
}
