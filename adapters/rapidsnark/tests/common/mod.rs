//! Calls the functions of the headers with generated keys and witnesses.
#![allow(dead_code, reason = "each test file uses a part")]

#[path = "../../../circom/tests/common/mod.rs"]
pub mod circom;

use std::ffi::{CString, c_char, c_int, c_ulonglong, c_void};

use circom::generator;
use proofwarp_circom::{Groth16Engine, VerificationKey, Zkey};
use rapidsnark::*;

/// Number of constraints of the generated circuit. The circuit has two signals more than constraints; one is public.
pub const CONSTRAINTS: usize = 6;

/// Bytes of a buffer that takes every text here.
pub const LARGE: usize = 4096;

pub fn zkey<E: Groth16Engine>() -> Vec<u8> {
    generator::zkey::<E>(CONSTRAINTS).to_bytes()
}

pub fn witness<E: Groth16Engine>(first: u64) -> Vec<u8> {
    generator::witness::<E>(CONSTRAINTS, E::Fr::from(first)).to_bytes()
}

pub fn verification_key<E: Groth16Engine>() -> String {
    let zkey = Zkey::from_bytes("generated.zkey", zkey::<E>()).expect("a zkey");
    VerificationKey::<E>::from_zkey(&zkey).expect("a key").to_json()
}

pub fn c_string(text: &str) -> CString {
    CString::new(text).expect("a text without a terminator")
}

/// Memory for a text, filled with `x`, and its size.
pub struct Buffer {
    pub bytes: Vec<u8>,
    pub size: c_ulonglong,
}

impl Buffer {
    pub fn new(size: usize) -> Self {
        Self { bytes: vec![b'x'; size], size: size as c_ulonglong }
    }

    pub fn start(&mut self) -> *mut c_char {
        self.bytes.as_mut_ptr().cast()
    }

    /// Returns the text before the terminator.
    pub fn text(&self) -> &str {
        let length = self.bytes.iter().position(|byte| *byte == 0).expect("a terminator");
        std::str::from_utf8(&self.bytes[..length]).expect("UTF-8")
    }

    pub fn is_untouched(&self) -> bool {
        self.bytes.iter().all(|byte| *byte == b'x')
    }
}

/// Code, error and texts of a call.
pub struct Outcome {
    pub code: c_int,
    pub error: Buffer,
    pub proof: Buffer,
    pub public: Buffer,
}

impl Outcome {
    /// Runs `call`, which gets the pointers to proof, public signals and error, with buffers of these sizes.
    pub fn of_call(
        sizes: [usize; 2],
        call: impl FnOnce([*mut c_char; 3], [*mut c_ulonglong; 2], c_ulonglong) -> c_int,
    ) -> Self {
        let [mut proof, mut public, mut error] = [sizes[0], sizes[1], LARGE].map(Buffer::new);
        let starts = [proof.start(), public.start(), error.start()];
        let code = call(starts, [&raw mut proof.size, &raw mut public.size], LARGE as c_ulonglong);
        Self { code, error, proof, public }
    }

    /// Checks that the call failed with `code` and an error that has `part`, and wrote no text.
    #[track_caller]
    pub fn expect_error(&self, code: c_int, part: &str) {
        assert_eq!(self.code, code, "expected {part}");
        assert!(self.error.text().contains(part), "{} lacks {part}", self.error.text());
        assert!(self.proof.is_untouched() && self.public.is_untouched(), "{part}");
    }

    /// Checks that the call returned texts, and that they verify.
    #[track_caller]
    pub fn expect_valid<E: Groth16Engine>(&self) {
        assert_eq!(self.code, PROVER_OK, "{}", String::from_utf8_lossy(&self.error.bytes));
        assert!(self.error.is_untouched());
        let [proof, public] = [self.proof.text(), self.public.text()];
        assert_eq!([self.proof.size, self.public.size], [proof.len() as u64, public.len() as u64]);
        let texts = [proof, public, &verification_key::<E>()].map(c_string);
        let mut error = Buffer::new(LARGE);
        let [proof, public, key] = [0, 1, 2].map(|index| texts[index].as_ptr());
        // SAFETY: texts end with terminators, and the error's buffer has this size.
        let code = unsafe { groth16_verify(proof, public, key, error.start(), LARGE as _) };
        assert_eq!(code, VERIFIER_VALID_PROOF);
    }
}

/// Creates a prover, and returns its code, error and handle.
pub fn create(zkey: &[u8]) -> (c_int, Buffer, *mut c_void) {
    let mut error = Buffer::new(LARGE);
    let mut handle = std::ptr::null_mut();
    let (start, size) = (zkey.as_ptr().cast(), zkey.len() as u64);
    // SAFETY: the buffers have these sizes.
    let code = unsafe { groth16_prover_create(&raw mut handle, start, size, error.start(), LARGE as c_ulonglong) };
    (code, error, handle)
}

pub fn create_valid(zkey: &[u8]) -> *mut c_void {
    let (code, error, handle) = create(zkey);
    assert_eq!(code, PROVER_OK, "{}", String::from_utf8_lossy(&error.bytes));
    assert!(!handle.is_null());
    handle
}

/// Proves `witness` with a handle, into buffers of these sizes.
pub fn prove(handle: *mut c_void, witness: &[u8], sizes: [usize; 2]) -> Outcome {
    Outcome::of_call(sizes, |[proof, public, error], [proof_size, public_size], size| {
        let (start, bytes) = (witness.as_ptr().cast(), witness.len() as u64);
        // SAFETY: the buffers have these sizes.
        unsafe { groth16_prover_prove(handle, start, bytes, proof, proof_size, public, public_size, error, size) }
    })
}

/// Returns the size that `groth16_proof_size` tells.
pub fn proof_size() -> usize {
    let mut size = 0;
    // SAFETY: the pointer is valid.
    unsafe { groth16_proof_size(&raw mut size) };
    size as usize
}
