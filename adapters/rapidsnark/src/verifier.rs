//! Exports the function of `verifier.h`.

use std::ffi::{c_char, c_int, c_ulong};

use proofwarp_circom::{JsonText, verify_json};

use crate::arguments::{ErrorBuffer, borrow_text};
use crate::error::{Result, VERIFIER_ERROR, VERIFIER_INVALID_PROOF, VERIFIER_VALID_PROOF};
use crate::prover::catch_panic;

/// Verifies a proof by the texts of `proof.json`, `public.json` and `verification_key.json`.
///
/// Returns one of [`VERIFIER_VALID_PROOF`], [`VERIFIER_INVALID_PROOF`] and [`VERIFIER_ERROR`].
///
/// # Safety
/// Each pointer is null or valid: the texts for reads up to a terminator, `error_msg` for writes of `error_msg_maxsize`
/// bytes. Nothing else writes to them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_verify(
    proof: *const c_char,
    inputs: *const c_char,
    verification_key: *const c_char,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulong,
) -> c_int {
    let call = || {
        // SAFETY: the caller says that texts end with terminators.
        let [key, public, proof] =
            unsafe { [json("verification_key", verification_key)?, json("inputs", inputs)?, json("proof", proof)?] };
        Ok(verify_json(key, public, proof)?)
    };
    match catch_panic(call) {
        Ok(true) => VERIFIER_VALID_PROOF,
        Ok(false) => VERIFIER_INVALID_PROOF,
        Err(error) => {
            // SAFETY: the caller says that the error's memory is writable.
            unsafe { ErrorBuffer::new(error_msg, error_msg_maxsize).write(&error.to_string()) };
            VERIFIER_ERROR
        }
    }
}

/// # Safety
/// Those of [`borrow_text`].
unsafe fn json<'a>(file: &'static str, start: *const c_char) -> Result<JsonText<'a>> {
    // SAFETY: the caller says so.
    Ok(JsonText { file, text: unsafe { borrow_text(file, start)? } })
}
