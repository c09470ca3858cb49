//! Calls each function of `prover.h`, with good arguments and with each that is wrong.

mod common;

use std::ffi::{c_int, c_ulonglong, c_void};
use std::io::Write as _;
use std::ptr::{null, null_mut};

use blstrs::Bls12;
use common::circom::{Container, generator};
use common::*;
use halo2curves::bn256::Bn256;
use proofwarp_circom::Groth16Engine;
use rapidsnark::*;
use tempfile::NamedTempFile;

/// Buffers that the functions themselves ask for.
fn sizes(zkey: &[u8]) -> [usize; 2] {
    [proof_size(), public_size_of_buffer(zkey).1 as usize]
}

fn public_size_of_buffer(zkey: &[u8]) -> (c_int, c_ulonglong, Buffer) {
    let (mut size, mut error) = (7, Buffer::new(LARGE));
    let (start, bytes) = (zkey.as_ptr().cast(), zkey.len() as u64);
    // SAFETY: the buffers have these sizes.
    let code = unsafe { groth16_public_size_for_zkey_buf(start, bytes, &raw mut size, error.start(), LARGE as u64) };
    (code, size, error)
}

fn public_size_of_file(path: &str) -> (c_int, c_ulonglong, Buffer) {
    let (mut size, mut error) = (7, Buffer::new(LARGE));
    let path = c_string(path);
    // SAFETY: the path ends with a terminator, and the buffer has this size.
    let code = unsafe { groth16_public_size_for_zkey_file(path.as_ptr(), &raw mut size, error.start(), LARGE as u64) };
    (code, size, error)
}

fn write_file(bytes: &[u8]) -> (NamedTempFile, String) {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("a write");
    let path = file.path().to_str().expect("UTF-8").to_owned();
    (file, path)
}

fn create_from_file(path: &str) -> (c_int, Buffer, *mut c_void) {
    let (mut error, mut handle) = (Buffer::new(LARGE), null_mut());
    let path = c_string(path);
    // SAFETY: the path ends with a terminator, and the buffer has this size.
    let code = unsafe { groth16_prover_create_zkey_file(&raw mut handle, path.as_ptr(), error.start(), LARGE as u64) };
    (code, error, handle)
}

fn prove_once(zkey: &[u8], witness: &[u8], sizes: [usize; 2]) -> Outcome {
    Outcome::of_call(sizes, |[proof, public, error], [proof_size, public_size], size| {
        let (zkey, zkey_size) = (zkey.as_ptr().cast(), zkey.len() as u64);
        let (start, bytes) = (witness.as_ptr().cast(), witness.len() as u64);
        // SAFETY: the buffers have these sizes.
        unsafe { groth16_prover(zkey, zkey_size, start, bytes, proof, proof_size, public, public_size, error, size) }
    })
}

fn prove_once_by_file(path: &str, witness: &[u8], sizes: [usize; 2]) -> Outcome {
    let path = c_string(path);
    Outcome::of_call(sizes, |[proof, public, error], [proof_size, public_size], size| {
        let (start, bytes) = (witness.as_ptr().cast(), witness.len() as u64);
        // SAFETY: the path ends with a terminator, and the buffers have these sizes.
        unsafe {
            groth16_prover_zkey_file(path.as_ptr(), start, bytes, proof, proof_size, public, public_size, error, size)
        }
    })
}

/// All four ways to prove give texts that verify, in buffers of the sizes that the library tells.
fn proves<E: Groth16Engine>() {
    let (zkey, witness) = (zkey::<E>(), witness::<E>(3));
    let sizes = sizes(&zkey);
    assert_eq!(sizes[1], 82 + 4);
    let (_file, path) = write_file(&zkey);
    assert_eq!(public_size_of_file(&path).1, 82 + 4);
    prove_once(&zkey, &witness, sizes).expect_valid::<E>();
    prove_once_by_file(&path, &witness, sizes).expect_valid::<E>();
    let (code, error, from_file) = create_from_file(&path);
    assert_eq!(code, PROVER_OK, "{}", error.bytes.escape_ascii());
    let from_buffer = create_valid(&zkey);
    assert_ne!(from_file, from_buffer);
    for handle in [from_file, from_buffer, from_file] {
        let outcome = prove(handle, &witness, sizes);
        outcome.expect_valid::<E>();
        assert!(outcome.proof.text().starts_with("{\"pi_a\":[\""), "{}", outcome.proof.text());
        let curve = format!("\"curve\":\"{}\"}}", E::CURVE.json_name());
        assert!(outcome.proof.text().ends_with(&curve), "{}", outcome.proof.text());
    }
    groth16_prover_destroy(from_file);
    prove(from_buffer, &witness, sizes).expect_valid::<E>();
    groth16_prover_destroy(from_buffer);
}

#[test]
fn every_way_to_prove_gives_valid_texts() {
    proves::<Bn256>();
    proves::<Bls12>();
}

/// The sizes that the library tells fit texts whose numbers all have the most digits.
fn longest_texts_fit<E: Groth16Engine>(digits: usize, max: usize) {
    let handle = create_valid(&zkey::<E>());
    let outcome = prove(handle, &witness::<E>(3), [LARGE; 2]);
    groth16_prover_destroy(handle);
    let proof = outcome.proof.text();
    let coordinates: Vec<_> = proof.split('"').filter(|part| part.len() > 40).collect();
    assert_eq!(coordinates.len(), 8);
    let missing: usize = coordinates.iter().map(|coordinate| digits - coordinate.len()).sum();
    assert!(proof.len() + missing < max, "{} + {missing}", proof.len());
}

#[test]
fn sizes_are_enough_for_every_proof() {
    longest_texts_fit::<Bn256>(77, 810);
    longest_texts_fit::<Bls12>(115, proof_size());
    // SAFETY: null is allowed.
    unsafe { groth16_proof_size(null_mut()) };
}

#[test]
fn short_buffers_are_reported_with_the_sizes_needed() {
    let (zkey, witness) = (zkey::<Bn256>(), witness::<Bn256>(3));
    let handle = create_valid(&zkey);
    let good = prove(handle, &witness, [LARGE; 2]);
    let public = good.public.text().len();
    let [max_proof, max_public] = sizes(&zkey);
    for sizes in [[0, LARGE], [LARGE, 0], [0, 0], [1, LARGE], [600, LARGE], [LARGE, public]] {
        let outcome = prove(handle, &witness, sizes);
        outcome.expect_error(PROVER_ERROR_SHORT_BUFFER, "buffers are too short: expected");
        assert_eq!([outcome.proof.size, outcome.public.size], [max_proof as u64, max_public as u64]);
        prove_once(&zkey, &witness, sizes).expect_error(PROVER_ERROR_SHORT_BUFFER, "buffers are too short");
    }
    // Sizes needed include the terminator. Sizes written exclude it.
    let outcome = prove(handle, &witness, [LARGE, public + 1]);
    outcome.expect_valid::<Bn256>();
    assert_eq!(outcome.public.size, public as u64);
    groth16_prover_destroy(handle);
}

#[test]
fn witnesses_that_do_not_fit_are_refused() {
    let zkey = zkey::<Bn256>();
    let handle = create_valid(&zkey);
    let (_file, path) = write_file(&zkey);
    let sizes = sizes(&zkey);
    let longer = generator::witness::<Bn256>(CONSTRAINTS + 1, 3.into()).to_bytes();
    let mut wrong: Container = generator::witness::<Bn256>(CONSTRAINTS, 3.into());
    wrong.section(2)[32 * 5] ^= 1;
    let good = witness::<Bn256>(3);
    let cases = [
        (longer, PROVER_INVALID_WITNESS_LENGTH, "wtns_buffer: section 1 (header): expected the 8 values"),
        (witness::<Bls12>(3), PROVER_ERROR, "wtns_buffer: section 1 (header): expected the curve BN254"),
        (wrong.to_bytes(), PROVER_ERROR, "wtns_buffer: the proof does not verify"),
        (good[..good.len() - 1].to_vec(), PROVER_ERROR, "wtns_buffer: section 2 (values): length: expected"),
        (Vec::new(), PROVER_ERROR, "wtns_buffer: header of the file: magic: expected 4 bytes, got 0"),
    ];
    for (witness, code, text) in cases {
        prove(handle, &witness, sizes).expect_error(code, text);
        prove_once(&zkey, &witness, sizes).expect_error(code, text);
        prove_once_by_file(&path, &witness, sizes).expect_error(code, text);
    }
    prove(handle, &good, sizes).expect_valid::<Bn256>();
    groth16_prover_destroy(handle);
}

#[test]
fn zkeys_that_are_broken_are_refused() {
    let good = zkey::<Bn256>();
    let cases = [
        (good[..good.len() - 1].to_vec(), "length: expected at most"),
        (good[..11].to_vec(), "header of the file: number of sections: expected 4 bytes, got 3"),
        (witness::<Bn256>(3), "header of the file: magic: expected zkey, got wtns"),
        (generator::zkey::<Bn256>(CONSTRAINTS).changed(1, |protocol| protocol[0] = 2), "section 1 (protocol)"),
        (generator::zkey::<Bn256>(CONSTRAINTS).changed(2, |header| header.truncate(9)), "section 2 (header)"),
        (Vec::new(), "header of the file: magic: expected 4 bytes, got 0"),
    ];
    let witness = witness::<Bn256>(3);
    for (zkey, text) in cases {
        let (file, path) = write_file(&zkey);
        let (code, error, handle) = create(&zkey);
        assert!(code == PROVER_ERROR && handle.is_null() && error.text().contains(text), "{}", error.text());
        let (code, size, error) = public_size_of_buffer(&zkey);
        assert!(code == PROVER_ERROR && size == 7 && error.text().contains(text), "{}", error.text());
        prove_once(&zkey, &witness, [LARGE; 2]).expect_error(PROVER_ERROR, text);
        prove_once_by_file(&path, &witness, [LARGE; 2]).expect_error(PROVER_ERROR, text);
        let (code, error, handle) = create_from_file(&path);
        assert!(code == PROVER_ERROR && handle.is_null() && error.text().contains(text), "{}", error.text());
        let (code, size, error) = public_size_of_file(&path);
        assert!(code == PROVER_ERROR && size == 7 && error.text().starts_with(&path), "{}", error.text());
        drop(file);
        let (code, error, _) = create_from_file(&path);
        assert!(code == PROVER_ERROR && error.text().contains("cannot be read"), "{}", error.text());
    }
    // A point off the curve is found when the prover is created.
    let broken = generator::zkey::<Bn256>(CONSTRAINTS).changed(5, |points| points[3 * 64] ^= 1);
    let (code, error, _) = create(&broken);
    assert!(code == PROVER_ERROR && error.text().starts_with("zkey_buffer: section 5"), "{}", error.text());
}

#[test]
fn null_pointers_are_errors() {
    let (zkey, witness) = (zkey::<Bn256>(), witness::<Bn256>(3));
    let handle = create_valid(&zkey);
    let names = ["prover_object", "wtns_buffer", "proof_buffer", "proof_size", "public_buffer", "public_size"];
    for (index, name) in names.into_iter().enumerate() {
        let outcome = Outcome::of_call([LARGE; 2], |[proof, public, error], [proof_size, public_size], size| {
            let or_null = |at: usize, pointer: *mut c_void| if at == index { null_mut() } else { pointer };
            let start = or_null(1, witness.as_ptr().cast_mut().cast());
            let (proof, proof_size) = (or_null(2, proof.cast()), or_null(3, proof_size.cast()));
            let (public, public_size) = (or_null(4, public.cast()), or_null(5, public_size.cast()));
            // SAFETY: pointers are null, or buffers have these sizes.
            unsafe {
                groth16_prover_prove(
                    or_null(0, handle),
                    start,
                    witness.len() as u64,
                    proof.cast(),
                    proof_size.cast(),
                    public.cast(),
                    public_size.cast(),
                    error,
                    size,
                )
            }
        });
        outcome.expect_error(PROVER_ERROR, &format!("{name}: expected a pointer, got null"));
    }
    groth16_prover_destroy(handle);
    null_arguments_of_other_functions(&zkey);
}

fn null_arguments_of_other_functions(zkey: &[u8]) {
    let (start, bytes) = (zkey.as_ptr().cast::<c_void>(), zkey.len() as u64);
    let path = c_string("circuit.zkey");
    let (mut size, mut handle) = (0, null_mut());
    let mut error = Buffer::new(LARGE);
    let (text, capacity) = (error.start(), LARGE as u64);
    // SAFETY: pointers are null, or buffers have these sizes.
    let codes = unsafe {
        [
            groth16_public_size_for_zkey_buf(null(), bytes, &raw mut size, text, capacity),
            groth16_public_size_for_zkey_buf(start, bytes, null_mut(), text, capacity),
            groth16_public_size_for_zkey_file(null(), &raw mut size, text, capacity),
            groth16_public_size_for_zkey_file(path.as_ptr(), null_mut(), text, capacity),
            groth16_prover_create(null_mut(), start, bytes, text, capacity),
            groth16_prover_create(&raw mut handle, null(), bytes, text, capacity),
            groth16_prover_create(&raw mut handle, start, u64::MAX, text, capacity),
            groth16_prover_create_zkey_file(null_mut(), path.as_ptr(), text, capacity),
            groth16_prover_create_zkey_file(&raw mut handle, null(), text, capacity),
            // No memory for the error.
            groth16_prover_create(null_mut(), start, bytes, null_mut(), capacity),
            groth16_prover_create(null_mut(), start, bytes, text, 0),
        ]
    };
    assert_eq!(codes, [PROVER_ERROR; 11]);
    assert!(handle.is_null() && error.text().contains("expected a pointer, got null"), "{}", error.text());
}

#[test]
fn errors_are_cut_to_their_buffer() {
    let zkey = c_string("/nowhere/ключ.zkey");
    let mut handle = null_mut();
    let full = create_from_file("/nowhere/ключ.zkey").1.text().to_owned();
    for size in 1..=full.len() + 2 {
        let mut error = Buffer::new(size + 1);
        // SAFETY: the path ends with a terminator, and the buffer has one byte more.
        let code =
            unsafe { groth16_prover_create_zkey_file(&raw mut handle, zkey.as_ptr(), error.start(), size as u64) };
        assert_eq!(code, PROVER_ERROR);
        assert!(full.starts_with(error.text()) && error.text().len() < size, "{size}: {}", error.text());
        assert!(error.text().len() + 2 >= size.min(full.len() + 1), "{size}: {}", error.text());
        assert_eq!(error.bytes[size], b'x', "the byte behind the buffer");
    }
}
