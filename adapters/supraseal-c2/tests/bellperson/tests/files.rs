//! Parameter files that are none.

mod common;

use std::path::Path;

use bellperson::groth16::{Parameters, SuprasealParameters};
use blstrs::{Bls12, Scalar};
use rand::Rng;
use supraseal_c2_tests::{Chain, Kind, parameters, rng};

const G1: usize = 96;
const G2: usize = 192;
/// Bytes before the number of `ic`.
const KEY: usize = 3 * G1 + 3 * G2;

/// A file of parameters, and where its parts' numbers are: ic, h, l, a, b_g1, b_g2.
fn file() -> (Vec<u8>, [usize; 6]) {
    let key: Parameters<Bls12> = parameters(Chain::new(Kind::Plain, 9));
    let mut bytes = Vec::new();
    key.write(&mut bytes).expect("memory");
    let lengths = [key.vk.ic.len(), key.h.len(), key.l.len(), key.a.len(), key.b_g1.len()];
    let mut places = [KEY; 6];
    for (part, length) in lengths.into_iter().enumerate() {
        places[part + 1] = places[part] + 4 + length * G1;
    }
    assert_eq!(bytes.len(), places[5] + 4 + key.b_g2.len() * G2);
    (bytes, places)
}

fn read(bytes: &[u8]) -> Result<(), String> {
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), bytes).expect("file");
    let result = SuprasealParameters::<Bls12>::new(file.path().to_owned());
    let name = file.path().display().to_string();
    result.map(drop).map_err(|error| {
        let text = error.to_string();
        assert!(text.contains(&name), "no file in: {text}");
        text
    })
}

fn refused(bytes: &[u8], reason: &str) {
    let error = read(bytes).expect_err(reason);
    assert!(error.contains(reason), "{reason} is not in: {error}");
}

#[test]
fn a_whole_file_and_one_with_more_behind_it() {
    let (mut bytes, _) = file();
    read(&bytes).expect("parameters");
    bytes.extend([1, 2, 3]);
    read(&bytes).expect("parameters with bytes behind them");
}

#[test]
fn no_file() {
    let missing = SuprasealParameters::<Bls12>::new("/nowhere/at/all".into()).err().expect("no file");
    assert!(missing.to_string().contains("/nowhere/at/all"), "{missing}");
    let folder = SuprasealParameters::<Bls12>::new(Path::new("/").to_owned());
    assert!(folder.is_err());
}

#[test]
fn truncated_anywhere() {
    let (bytes, places) = file();
    refused(&[], "alpha_g1: expected 96 bytes of the file at least, got 0");
    for (place, name) in places.into_iter().zip(["ic", "h", "l", "a", "b_g1", "b_g2"]) {
        refused(&bytes[..place], &format!("number of {name}: expected {} bytes of the file at least", place + 4));
        refused(&bytes[..place + 3], &format!("number of {name}: expected"));
        refused(&bytes[..place + 4], &format!("points of {name}: expected"));
        refused(&bytes[..place + 4 + G1 / 2], &format!("points of {name}: expected"));
    }
    refused(&bytes[..bytes.len() - 1], "points of b_g2: expected");
    for length in (0..bytes.len()).step_by(97) {
        read(&bytes[..length]).expect_err("truncated");
    }
}

#[test]
fn points_that_are_none() {
    let (bytes, places) = file();
    let names = ["ic", "h", "l", "a", "b_g1", "b_g2"];
    for (place, name) in places.into_iter().zip(names) {
        let size = if name == "b_g2" { G2 } else { G1 };
        for (offset, name) in [(0, "alpha_g1"), (place + 4, name), (place + 4 + size, name)] {
            let at = format!("{name}, the point at byte {offset}: expected");
            let mut changed = bytes.clone();
            changed[offset + 40] ^= 4;
            refused(&changed, &at);
            changed = bytes.clone();
            changed[offset..offset + 48].fill(0x1f);
            refused(&changed, &at);
            changed[offset] = 0x40;
            changed[offset + 1..offset + if name == "b_g2" { G2 } else { G1 }].fill(0);
            refused(&changed, &format!("{at} a point of the group other than infinity, got infinity"));
        }
    }
}

/// The queries' points are left to the device where there is one: it says what is wrong, of the last ones too, and so does
/// the host.
#[test]
fn points_that_devices_refuse() {
    let (bytes, places) = file();
    let ends = places[2..].iter().copied().chain([bytes.len()]);
    for (end, name) in ends.zip(["h", "l", "a", "b_g1", "b_g2"]) {
        let offset = end - if name == "b_g2" { G2 } else { G1 };
        let refused = |change: &dyn Fn(&mut [u8]), reason: &str| {
            let mut changed = bytes.clone();
            change(&mut changed[offset..end]);
            refused(&changed, &format!("{name}, the point at byte {offset}: expected {reason}"));
        };
        refused(&|point| point[G1 - 1] ^= 1, "a point on the curve, got coordinates that are not on the curve");
        refused(&|point| point[..48].fill(0x1f), "coordinates below the field's modulus, got ");
        // blst takes such a point for a compressed one.
        refused(&|point| point[0] |= 0x80, "the flags of an uncompressed point, got ");
    }
}

#[test]
fn numbers_that_are_wrong() {
    let (bytes, places) = file();
    for place in places {
        for number in [u32::MAX, 1 << 24] {
            let mut changed = bytes.clone();
            changed[place..place + 4].copy_from_slice(&number.to_be_bytes());
            refused(&changed, &format!("{number} points of "));
        }
        let mut changed = bytes.clone();
        changed[place + 3] -= 1;
        read(&changed).expect_err("a point too few");
    }
}

/// A byte that is another, anywhere but behind the parameters.
#[test]
fn corrupted_anywhere() {
    let (bytes, _) = file();
    let mut rng = rng(5);
    for _ in 0..500 {
        let mut changed = bytes.clone();
        changed[rng.gen_range(0..bytes.len())] ^= rng.gen_range(1..=u8::MAX);
        read(&changed).expect_err("a byte is another");
    }
}

/// Points that are good ones, in each other's places: the proof does not verify.
#[test]
fn points_that_have_changed_places() {
    let (bytes, places) = file();
    for (part, place) in places.into_iter().enumerate() {
        let size = if part == 5 { G2 } else { G1 };
        let mut changed = bytes.clone();
        let (one, other) = changed[place + 4..].split_at_mut(size);
        one.swap_with_slice(&mut other[..size]);
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), &changed).expect("file");
        let key = common::open(file.path());
        let one = || vec![Scalar::from(2)];
        let panic = common::panic_of(|| common::prove(vec![Chain::new(Kind::Plain, 9)], &key, one(), one()));
        assert!(panic.contains("does not verify"), "part {part}: {panic}");
    }
}
