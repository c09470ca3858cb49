//! Reads zkeys that are written here, and breaks them in each way.

mod common;

use std::sync::Arc;

use blstrs::Bls12;
use common::{Container, DOMAIN, PUBLIC, SIGNALS, points, zkey};
use ff::PrimeField;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256::Bn256;
use proofwarp_circom::{AffinePoint, CurveId, Error, Groth16Engine, Matrix, PointGroup, VerificationKey, Zkey};

/// Bytes that the header's primes take for BN254, each with its length.
const BN254_PRIMES: usize = 2 * (4 + 32);

/// Returns the message of the error that a BN254 zkey gives after a change of a section.
fn broken(section: u32, change: impl FnOnce(&mut Vec<u8>)) -> String {
    message(zkey::<Bn256>().changed(section, change))
}

fn message(bytes: Vec<u8>) -> String {
    let error = Zkey::from_bytes("bad.zkey", bytes).expect_err("a broken file").to_string();
    assert!(error.starts_with("bad.zkey: "), "{error}");
    error
}

#[track_caller]
fn expect(error: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| error.contains(part)), "{error} lacks one of {parts:?}");
}

/// Sets the u32 at `offset`.
fn set(bytes: &mut [u8], offset: usize, value: u32) {
    bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
}

fn check_views<E: Groth16Engine>() {
    let zkey = Zkey::from_bytes("good.zkey", zkey::<E>().to_bytes()).expect("a zkey");
    let header = zkey.header();
    assert_eq!((header.curve, header.signals, header.public_signals), (E::CURVE, SIGNALS, PUBLIC));
    assert_eq!((header.domain_size, header.private_signals()), (DOMAIN, 2));
    let g1 = |first, count| points::<E::G1Affine>(first, count);
    let sections = [(zkey.ic(), g1(10, 3)), (zkey.h(), g1(20, 4)), (zkey.a(), g1(30, 5)), (zkey.b1(), g1(40, 5))];
    for (view, expected) in sections.into_iter().chain([(zkey.c(), g1(60, 2)), (zkey.alpha1(), g1(2, 1))]) {
        assert_eq!(view.to_points::<E::G1Affine>().expect("points"), expected);
        assert_eq!((view.len(), view.group(), view.curve()), (expected.len(), PointGroup::G1, E::CURVE));
        assert_eq!(view.encodings().len(), expected.len());
    }
    let g2 = |first, count| points::<E::G2Affine>(first, count);
    for (view, expected) in [(zkey.b2(), g2(50, 5)), (zkey.gamma2(), g2(4, 1)), (zkey.delta2(), g2(5, 1))] {
        assert_eq!(view.to_points::<E::G2Affine>().expect("points"), expected);
    }
    let second: E::G1Affine = zkey.a().point(1).expect("a point");
    assert!(bool::from(second.is_identity()));
    zkey.check_points().expect("points of the curve");
    zkey.check_unchanged().expect("bytes in memory");
    let key = VerificationKey::<E>::from_zkey(&zkey).expect("a key");
    assert_eq!(key.ic, g1(10, 3));
    check_coefficients::<E>(&zkey);
}

fn check_coefficients<E: Groth16Engine>(zkey: &Zkey) {
    let coefficients = zkey.coefficients();
    let expected = [(Matrix::A, 0, 1, 7), (Matrix::B, 0, 4, 8), (Matrix::A, 3, 0, 9)];
    assert_eq!(coefficients.len(), expected.len());
    for (actual, (matrix, constraint, signal, value)) in coefficients.iter().zip(expected) {
        assert_eq!((actual.matrix, actual.constraint, actual.signal), (matrix, constraint, signal));
        assert_eq!(actual.value.as_slice(), E::Fr::from(value).to_repr().as_ref());
    }
    assert_eq!(coefficients.get(2), coefficients.iter().last());
    assert_eq!(coefficients.get(3), None);
}

#[test]
fn views_have_the_contents_of_sections() {
    check_views::<Bn256>();
    check_views::<Bls12>();
}

#[test]
fn files_are_read_mapped_or_shared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key.zkey");
    let bytes = zkey::<Bn256>().to_bytes();
    std::fs::write(&path, &bytes).expect("a file");
    let read = Zkey::open(&path).expect("a zkey");
    // SAFETY: nothing reads the map between a change of the file and its end.
    let mapped = unsafe { Zkey::open_mapped(&path) }.expect("a zkey");
    let shared = Zkey::from_bytes("shared", Arc::<[u8]>::from(bytes)).expect("a zkey");
    for zkey in [&mapped, &shared] {
        assert_eq!(zkey.a().as_bytes(), read.a().as_bytes());
        zkey.check_unchanged().expect("no change");
    }
    std::fs::File::options().append(true).open(&path).and_then(|file| file.set_len(1 << 20)).expect("a longer file");
    expect(
        &mapped.check_unchanged().expect_err("a change").to_string(),
        &["key.zkey", "changed while", "1048576 bytes"],
    );
    read.check_unchanged().expect("a copy");
}

#[test]
fn what_is_no_file_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Zkey::open(folder.path().join("none.zkey")).expect_err("no file");
    assert!(matches!(error, Error::Read { .. }));
    expect(&error.to_string(), &["none.zkey: cannot be read"]);
    expect(&Zkey::open(folder.path()).expect_err("a folder").to_string(), &["expected a regular file"]);
}

/// Each prefix of a file is an error, also if only the end of a section that is not read is missing.
#[test]
fn truncated_files() {
    let bytes = zkey::<Bn256>().to_bytes();
    for length in 0..bytes.len() {
        expect(&message(bytes[..length].to_vec()), &["expected", "got"]);
    }
    let mut longer = bytes;
    longer.extend([0; 7]);
    Zkey::from_bytes("longer.zkey", longer).expect("bytes behind the last section are ignored");
}

/// No byte that is wrong makes a panic, whether it is found when the file is opened or later.
#[test]
fn changed_bytes() {
    let bytes = zkey::<Bn256>().to_bytes();
    for (position, value) in (0..bytes.len()).step_by(3).zip([0, 1, 0x7f, 0xff].into_iter().cycle()) {
        let mut changed = bytes.clone();
        changed[position] = value;
        let Ok(zkey) = Zkey::from_bytes("changed.zkey", changed) else { continue };
        let _ = zkey.check_points();
        let _ = VerificationKey::<Bn256>::from_zkey(&zkey);
        let signals = zkey.coefficients().iter().map(|coefficient| coefficient.signal);
        assert!(signals.max() < Some(zkey.header().signals));
    }
}

#[test]
fn magic_and_version() {
    let zkey = zkey::<Bn256>();
    let wtns = Container { magic: *b"wtns", ..zkey.clone() };
    expect(&message(wtns.to_bytes()), &["header of the file: magic: expected zkey, got wtns"]);
    let newer = Container { version: 2, ..zkey };
    expect(&message(newer.to_bytes()), &["version is not supported: expected 1, got 2"]);
}

#[test]
fn missing_and_repeated_sections() {
    let zkey = zkey::<Bn256>();
    for section in 1..=9 {
        let name = format!("section {section} (");
        let mut missing = zkey.clone();
        missing.sections.retain(|entry| entry.0 != section);
        expect(&message(missing.to_bytes()), &[&name, "occurrences: expected one, got none"]);
        let mut repeated = zkey.clone();
        let copy = repeated.section(section).clone();
        repeated.sections.push((section, copy));
        expect(&message(repeated.to_bytes()), &[&name, "occurrences: expected one, got more"]);
    }
    let mut unread = zkey;
    unread.sections.extend([(10, vec![]), (99, vec![0; 9]), (u32::MAX, vec![])]);
    Zkey::from_bytes("more.zkey", unread.to_bytes()).expect("sections that are not read may repeat");
}

#[test]
fn section_lengths_beyond_the_file() {
    let bytes = zkey::<Bn256>().to_bytes();
    for length in [5_u64, 1 << 20, 1 << 40, u64::MAX - 11, u64::MAX] {
        let mut changed = bytes.clone();
        changed[16..24].copy_from_slice(&length.to_le_bytes());
        expect(&message(changed), &["bad.zkey"]);
    }
    let mut many = bytes;
    set(&mut many, 8, u32::MAX);
    expect(&message(many), &["type of section number 10", "expected 4 bytes, got 0"]);
}

#[test]
fn section_lengths_other_than_the_header_implies() {
    for section in 3..=9 {
        let name = format!("section {section} (");
        expect(&broken(section, |bytes| bytes.push(0)), &[&name, "length"]);
        expect(&broken(section, |bytes| bytes.truncate(bytes.len() - 1)), &[&name, "length"]);
        expect(&broken(section, Vec::clear), &[&name]);
    }
    expect(&broken(1, |bytes| bytes.push(0)), &["section 1 (protocol)", "1 more bytes"]);
    expect(&broken(2, |bytes| bytes.push(0)), &["section 2 (header)", "1 more bytes"]);
}

#[test]
fn other_protocols() {
    for (protocol, name) in [(2, "PLONK (2)"), (10, "FFLONK (10)"), (7, "7")] {
        let error = broken(1, |bytes| set(bytes, 0, protocol));
        expect(&error, &["section 1 (protocol): protocol is not supported: expected Groth16 (1), got ", name]);
    }
}

#[test]
fn other_curves() {
    expect(&broken(2, |bytes| bytes[4] ^= 2), &["section 2 (header): base field is not supported"]);
    let error = broken(2, |bytes| bytes[40] ^= 2);
    expect(
        &error,
        &[
            "section 2 (header): r: expected 21888242871839275222246405745257275088548364400416034343698204186575808495617",
        ],
    );
    for length in [0, 31, 33, 1 << 20, u32::MAX] {
        expect(&broken(2, |bytes| set(bytes, 0, length)), &["section 2 (header)"]);
        expect(&broken(2, |bytes| set(bytes, 36, length)), &["section 2 (header)"]);
    }
}

#[test]
fn numbers_of_signals() {
    let signals = BN254_PRIMES;
    let error = broken(2, |bytes| set(bytes, signals, u32::MAX));
    expect(&error, &["section 5 (A): length: expected 4294967295 * 64 bytes, got 320"]);
    for value in [0, PUBLIC] {
        expect(&broken(2, |bytes| set(bytes, signals, value)), &["nPublic: expected less than"]);
    }
    expect(
        &broken(2, |bytes| set(bytes, signals + 4, SIGNALS)),
        &["nPublic: expected less than the 5 of nVars, got 5"],
    );
    let error = broken(2, |bytes| {
        set(bytes, signals, u32::MAX);
        set(bytes, signals + 4, u32::MAX - 1);
    });
    expect(&error, &["section 3 (IC): length: expected 4294967295 * 64 bytes"]);
}

#[test]
fn domain_sizes() {
    for size in [0, 3, 6, 1 << 29, 1 << 31, u32::MAX] {
        let error = broken(2, |bytes| set(bytes, BN254_PRIMES + 8, size));
        expect(&error, &["domainSize: expected a power of two, at most 2^28, got ", &size.to_string()]);
    }
    let error = broken(2, |bytes| set(bytes, BN254_PRIMES + 8, 1 << 28));
    expect(&error, &["section 9 (H): length: expected 268435456 * 64 bytes, got 256"]);
}

#[test]
fn coefficients_out_of_range() {
    let entry = 4 + 44;
    let section = "section 4 (coefficients): ";
    for (offset, value, field) in [(0, 2, "matrix"), (4, DOMAIN, "constraint"), (8, SIGNALS, "signal")] {
        for value in [value, u32::MAX] {
            let error = broken(4, |bytes| set(bytes, entry + offset, value));
            expect(
                &error,
                &[section, &format!("{field} of coefficient 1: expected less than"), &format!("got {value}")],
            );
        }
    }
    let r = CurveId::Bn254.scalar_prime();
    let error = broken(4, |bytes| bytes[entry + 12..entry + 44].copy_from_slice(r));
    expect(&error, &[section, "value of coefficient 1: expected less than r"]);
    for count in [0, 2, 4, u32::MAX] {
        let error = broken(4, |bytes| set(bytes, 0, count));
        expect(&error, &[section, &format!("length: expected 4 + {count} * 44 bytes, got 136")]);
    }
}

#[test]
fn coordinates_not_below_q() {
    let q = CurveId::Bn254.base_prime();
    for (section, point_bytes) in [(3, 64), (5, 64), (6, 64), (7, 128), (8, 64), (9, 64)] {
        for offset in (0..point_bytes).step_by(32) {
            let start = point_bytes + offset;
            let error = broken(section, |bytes| bytes[start..start + 32].copy_from_slice(q));
            expect(
                &error,
                &[
                    &format!("section {section} ("),
                    "point 1: expected a point of G",
                    "a coordinate that is not below q",
                ],
            );
        }
    }
    let error = broken(2, |bytes| bytes[BN254_PRIMES + 12..BN254_PRIMES + 44].fill(255));
    expect(&error, &["section 2 (header) alpha1", "a coordinate that is not below q"]);
}

fn check_off_curve<E: Groth16Engine>() {
    for section in [3, 5, 6, 7, 8, 9] {
        let bytes = zkey::<E>().changed(section, |bytes| bytes[0] ^= 1);
        let zkey = Zkey::from_bytes("bad.zkey", bytes).expect("coordinates below q");
        let error = zkey.check_points().expect_err("a point off the curve").to_string();
        expect(&error, &["bad.zkey", &format!("section {section} ("), "point 0", "one that is not on the curve"]);
        if section == 7 {
            zkey.b2().to_points::<E::G2Affine>().expect_err("a point off the curve");
        }
    }
    let primes = E::CURVE.base_prime().len() + 4 + 36;
    let bytes = zkey::<E>().changed(2, |bytes| bytes[primes + 12] ^= 1);
    let error = Zkey::from_bytes("bad.zkey", bytes).expect_err("a point off the curve").to_string();
    expect(&error, &["section 2 (header) alpha1", "one that is not on the curve"]);
}

#[test]
fn points_off_the_curve() {
    check_off_curve::<Bn256>();
    check_off_curve::<Bls12>();
}

#[test]
fn points_of_another_type() {
    let zkey = Zkey::from_bytes("bn254.zkey", zkey::<Bn256>().to_bytes()).expect("a zkey");
    let error = zkey.a().to_points::<blstrs::G1Affine>().expect_err("another curve");
    assert!(matches!(error, Error::OtherCurve { .. }), "{error}");
    zkey.a().to_points::<halo2curves::bn256::G2Affine>().expect_err("another group");
    zkey.a().point::<halo2curves::bn256::G1Affine>(SIGNALS as usize).expect_err("no such point");
}

fn check_round_trip<P: AffinePoint + PrimeCurveAffine + PartialEq>(points: &[P]) {
    for point in points {
        assert!(P::from_montgomery(&point.to_montgomery()) == Ok(*point));
        assert!(P::from_integers(&point.to_integers()) == Ok(*point));
        assert!(point.is_in_subgroup());
    }
}

#[test]
fn points_are_read_as_they_are_written() {
    check_round_trip::<halo2curves::bn256::G1Affine>(&points(1, 4));
    check_round_trip::<halo2curves::bn256::G2Affine>(&points(1, 4));
    check_round_trip::<blstrs::G1Affine>(&points(1, 4));
    check_round_trip::<blstrs::G2Affine>(&points(1, 4));
}
