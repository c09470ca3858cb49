//! Reads witnesses that are written here, and breaks them in each way.

mod common;

use blstrs::Bls12;
use common::{SIGNALS, witness, zkey};
use halo2curves::bn256::{Bn256, Fr};
use proofwarp_circom::{CurveId, Error, Witness, Zkey};

/// Returns the message of the error that a BN254 witness of 5 values gives after a change of a section.
fn broken(section: u32, change: impl FnOnce(&mut Vec<u8>)) -> String {
    message(witness(CurveId::Bn254, SIGNALS).changed(section, change))
}

fn message(bytes: Vec<u8>) -> String {
    let error = Witness::from_bytes("bad.wtns", bytes).expect_err("a broken file").to_string();
    assert!(error.starts_with("bad.wtns: "), "{error}");
    error
}

#[track_caller]
fn expect(error: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| error.contains(part)), "{error} lacks one of {parts:?}");
}

fn good(curve: CurveId, count: u32) -> Witness {
    Witness::from_bytes("good.wtns", witness(curve, count).to_bytes()).expect("a witness")
}

#[test]
fn values_and_public_signals() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("good.wtns");
    std::fs::write(&path, witness(CurveId::Bn254, 5).to_bytes()).expect("a file");
    let witness = Witness::open(&path).expect("a witness");
    assert_eq!((witness.curve(), witness.len(), witness.values().len()), (CurveId::Bn254, 5, 5));
    assert!(witness.values().iter().zip(1..).all(|(value, number)| value[0] == number && value[1..] == [0; 31]));
    assert_eq!(witness.public_signals::<Bn256>(2).expect("signals"), [2, 3].map(Fr::from));
    witness.public_signals::<Bn256>(4).expect("all signals");
    expect(&witness.public_signals::<Bn256>(5).expect_err("too many").to_string(), &["more than 5 values, got 5"]);
    witness.public_signals::<Bls12>(2).expect_err("another curve");
    Witness::open(folder.path()).expect_err("a folder");
}

#[test]
fn nothing_shows_values() {
    let witness = good(CurveId::Bls12_381, 3);
    let debug = format!("{witness:?}");
    assert_eq!(debug, "Witness { file: \"good.wtns\", curve: Bls12_381, 3 secret values }");
}

#[test]
fn truncated_files() {
    let bytes = witness(CurveId::Bn254, SIGNALS).to_bytes();
    for length in 0..bytes.len() {
        expect(&message(bytes[..length].to_vec()), &["expected", "got"]);
    }
}

#[test]
fn magic_version_and_sections() {
    let witness = witness(CurveId::Bn254, SIGNALS);
    let mut changed = witness.clone();
    changed.magic = *b"zkey";
    expect(&message(changed.to_bytes()), &["magic: expected wtns, got zkey"]);
    changed = witness.clone();
    changed.version = 3;
    expect(&message(changed.to_bytes()), &["version is not supported: expected 2, got 3"]);
    for (section, name) in [(1, "section 1 (header)"), (2, "section 2 (values)")] {
        changed = witness.clone();
        changed.sections.retain(|entry| entry.0 != section);
        expect(&message(changed.to_bytes()), &[name, "expected one, got none"]);
        changed = witness.clone();
        let copy = changed.section(section).clone();
        changed.sections.push((section, copy));
        expect(&message(changed.to_bytes()), &[name, "expected one, got more"]);
        expect(&broken(section, |bytes| bytes.push(0)), &[name]);
    }
}

#[test]
fn lengths_and_curves() {
    for count in [0, 4, 6, u32::MAX] {
        let error = broken(1, |bytes| bytes[36..40].copy_from_slice(&count.to_le_bytes()));
        expect(&error, &["section 2 (values): length: expected ", &format!("{count} * 32 bytes, got 160")]);
    }
    expect(&broken(1, |bytes| bytes[4] ^= 2), &["section 1 (header): scalar field is not supported"]);
    for length in [0_u32, 31, 64, u32::MAX] {
        expect(&broken(1, |bytes| bytes[..4].copy_from_slice(&length.to_le_bytes())), &["section 1 (header)"]);
    }
    expect(&message(witness(CurveId::Bn254, 0).to_bytes()), &["first value: expected 1, got none"]);
}

#[test]
fn values_not_below_r() {
    let error = broken(2, |bytes| bytes[64..96].copy_from_slice(CurveId::Bn254.scalar_prime()));
    expect(&error, &["section 2 (values): value 2: expected less than r"]);
    expect(&broken(2, |bytes| bytes[..32].fill(255)), &["first value: expected 1, got another"]);
    expect(&broken(2, |bytes| bytes[0] = 2), &["first value: expected 1, got another"]);
}

/// Returns the message of the error that a BN254 witness of the values `bytes` gives.
fn broken_values(bytes: Vec<u8>) -> String {
    Witness::from_values("memory", CurveId::Bn254, bytes).expect_err("broken values").to_string()
}

#[test]
fn values_without_a_file() {
    let file = good(CurveId::Bn254, SIGNALS);
    let bytes = file.values().as_flattened();
    let values = Witness::from_values("memory", CurveId::Bn254, bytes.to_vec()).expect("values");
    assert_eq!((values.file(), values.curve(), values.len()), ("memory", CurveId::Bn254, SIGNALS));
    assert_eq!(values.values(), file.values());
    assert_eq!(values.public_signals::<Bn256>(2).expect("signals"), file.public_signals::<Bn256>(2).expect("signals"));
    expect(&broken_values(Vec::new()), &["memory: values: first value: expected 1, got none"]);
    expect(&broken_values(bytes[..159].to_vec()), &["memory: values: length: expected 4 * 32 bytes, got 159"]);
    expect(&broken_values(bytes[32..].to_vec()), &["memory: values: first value: expected 1, got another"]);
    let large = [&bytes[..96], CurveId::Bn254.scalar_prime(), &bytes[128..]].concat();
    expect(&broken_values(large), &["memory: values: value 3: expected less than r"]);
}

#[test]
fn values_of_another_key() {
    let zkey = Zkey::from_bytes("key.zkey", zkey::<Bn256>().to_bytes()).expect("a zkey");
    let mut bytes = vec![0; 4 * 32];
    bytes[0] = 1;
    let check = |curve| {
        let witness = Witness::from_values("memory", curve, bytes.clone()).expect("values");
        witness.check_against(zkey.header()).expect_err("another key").to_string()
    };
    expect(&check(CurveId::Bn254), &["memory: values: expected the 5 values of the key's signals, got 4"]);
    expect(&check(CurveId::Bls12_381), &["memory: values: expected the curve"]);
}

#[test]
fn witnesses_of_another_key() {
    let zkey = Zkey::from_bytes("key.zkey", zkey::<Bn256>().to_bytes()).expect("a zkey");
    good(CurveId::Bn254, SIGNALS).check_against(zkey.header()).expect("the key's witness");
    let error = good(CurveId::Bls12_381, SIGNALS).check_against(zkey.header()).expect_err("another curve");
    assert!(matches!(error, Error::OtherCurve { .. }), "{error}");
    let error = good(CurveId::Bn254, 4).check_against(zkey.header()).expect_err("another length");
    assert!(matches!(error, Error::WitnessLength { expected: SIGNALS, actual: 4, .. }), "{error}");
    expect(&error.to_string(), &["good.wtns", "expected the 5 values of the key's signals, got 4"]);
}
