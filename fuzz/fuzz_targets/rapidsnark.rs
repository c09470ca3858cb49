//! Damaged files, short buffers, null pointers and wrong handles for rapidsnark's C functions: a code and an error's text,
//! or a proof that verifies.
#![no_main]

use std::ffi::{CString, c_char, c_int, c_ulonglong, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use proofwarp_fuzz::Damage;
use proofwarp_fuzz::circom::{KEY, WITNESS, ZKEY, with_section_lengths};
use rapidsnark::*;

/// Bytes of the largest buffer.
const LARGE: usize = 2048;

/// Bytes behind each buffer that no call may write to.
const GUARD: usize = 16;

#[derive(Debug, Arbitrary)]
struct Input {
    zkey: Damage,
    witness: Damage,
    keeps_lengths: bool,
    /// Sizes of the buffers of proof, public signals and error.
    sizes: [u16; 3],
    /// Bit i makes pointer i null.
    nulls: u8,
    /// Another value than the handle.
    handle: Option<u16>,
    once: bool,
}

/// Memory for a text with a guard behind it.
struct Buffer {
    bytes: Vec<u8>,
    size: c_ulonglong,
}

impl Buffer {
    fn new(size: u16) -> Self {
        let size = usize::from(size) % (LARGE + 1);
        Self { bytes: vec![0xff; size + GUARD], size: size as c_ulonglong }
    }

    fn start(&mut self) -> *mut c_char {
        self.bytes.as_mut_ptr().cast()
    }

    /// Returns the text, after a look at the guard.
    fn text(&self) -> Option<&str> {
        assert!(self.bytes.ends_with(&[0xff; GUARD]), "a write behind the buffer");
        let length = self.bytes.iter().position(|byte| *byte == 0)?;
        Some(std::str::from_utf8(&self.bytes[..length]).expect("UTF-8"))
    }
}

/// Buffers of a proof's call.
struct Buffers {
    proof: Buffer,
    public: Buffer,
    error: Buffer,
}

fuzz_target!(|input: Input| {
    let [mut zkey, mut witness] = [input.zkey.of(&ZKEY), input.witness.of(&WITNESS)];
    if input.keeps_lengths {
        zkey = with_section_lengths(&ZKEY, zkey);
        witness = with_section_lengths(&WITNESS, witness);
    }
    let [proof, public, error] = input.sizes.map(Buffer::new);
    let mut buffers = Buffers { proof, public, error };
    let code = if input.once {
        prove_once(&input, &zkey, &witness, &mut buffers)
    } else {
        prove_by_handle(&input, &zkey, &witness, &mut buffers)
    };
    check(&input, code, &buffers);
});

/// Returns `pointer`, or null if `input` says so for number `index`.
fn or_null<T>(input: &Input, index: u8, pointer: *mut T) -> *mut T {
    if input.nulls >> index & 1 == 1 { null_mut() } else { pointer }
}

fn prove_once(input: &Input, zkey: &[u8], witness: &[u8], buffers: &mut Buffers) -> c_int {
    let Buffers { proof, public, error } = buffers;
    let [zkey_start, start] = [zkey, witness].map(|bytes| bytes.as_ptr().cast_mut().cast::<c_void>());
    // SAFETY: pointers are null, or buffers have these sizes.
    unsafe {
        groth16_prover(
            or_null(input, 0, zkey_start),
            zkey.len() as u64,
            or_null(input, 1, start),
            witness.len() as u64,
            or_null(input, 2, proof.start()),
            or_null(input, 3, &raw mut proof.size),
            or_null(input, 4, public.start()),
            or_null(input, 5, &raw mut public.size),
            or_null(input, 6, error.start()),
            error.size,
        )
    }
}

fn prove_by_handle(input: &Input, zkey: &[u8], witness: &[u8], buffers: &mut Buffers) -> c_int {
    let Buffers { proof, public, error } = buffers;
    let (start, size) = (zkey.as_ptr().cast_mut().cast::<c_void>(), zkey.len() as u64);
    let mut created: *mut c_void = null_mut();
    // SAFETY: pointers are null, or buffers have these sizes.
    let code = unsafe {
        let handle = or_null(input, 7, &raw mut created);
        groth16_prover_create(handle, or_null(input, 0, start), size, or_null(input, 6, error.start()), error.size)
    };
    assert_eq!(code == PROVER_OK, !created.is_null());
    let other = input.handle.map(|handle| without_provenance_mut(usize::from(handle) << 32));
    let start = witness.as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: pointers are null, or buffers have these sizes.
    let code = unsafe {
        groth16_prover_prove(
            other.unwrap_or(created),
            or_null(input, 1, start),
            witness.len() as u64,
            or_null(input, 2, proof.start()),
            or_null(input, 3, &raw mut proof.size),
            or_null(input, 4, public.start()),
            or_null(input, 5, &raw mut public.size),
            or_null(input, 6, error.start()),
            error.size,
        )
    };
    groth16_prover_destroy(created);
    groth16_prover_destroy(other.unwrap_or(null_mut()));
    code
}

/// Checks that texts are where the code says, and that a proof verifies for a key that is whole.
fn check(input: &Input, code: c_int, Buffers { proof, public, error }: &Buffers) {
    let error = error.text();
    if code != PROVER_OK {
        assert!((PROVER_ERROR..=PROVER_INVALID_WITNESS_LENGTH).contains(&code));
        assert!(proof.text().is_none() && public.text().is_none(), "a text of a call that failed");
        assert_eq!(error.is_some(), !is_error_null(input), "{error:?}");
        return;
    }
    let texts = [proof.text().expect("a proof"), public.text().expect("signals"), KEY.as_str()];
    assert_eq!([proof.size, public.size], [texts[0].len() as u64, texts[1].len() as u64]);
    if matches!(input.zkey, Damage::Whole) {
        let texts = texts.map(|text| CString::new(text).expect("a text"));
        let [proof, public, key] = [0, 1, 2].map(|index| texts[index].as_ptr());
        // SAFETY: texts end with terminators.
        let code = unsafe { groth16_verify(proof, public, key, null_mut(), 0) };
        assert_eq!(code, VERIFIER_VALID_PROOF);
    }
}

/// Returns whether the call had no memory for its error.
fn is_error_null(input: &Input) -> bool {
    usize::from(input.sizes[2]) % (LARGE + 1) == 0 || input.nulls >> 6 & 1 == 1
}
