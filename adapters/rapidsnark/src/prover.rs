//! Exports the functions of `prover.h`.

use std::ffi::{c_char, c_int, c_ulonglong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use proofwarp::fork_check;
use proofwarp_circom::{AnyProvingKey, KeyCache, Zkey, ZkeyHeader, ZkeyIdentity};

use crate::arguments::{ErrorBuffer, Output, borrow_bytes, copy_path, try_copy};
use crate::error::{Error, PROVER_OK, Result};
use crate::handles;
use crate::proof_call::{Buffers, MAX_PROOF_BYTES, ProofCall, create_prover, max_public_bytes, verifies};

/// Runs `call`, and turns a panic into an error.
///
/// # Errors
/// - [`Error::Panic`]: `call` panicked.
/// - Any other error is one of `call`.
pub(crate) fn catch_panic<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a text");
        Err(Error::Panic { text: text.to_owned() })
    })
}

/// Runs `call`, writes its error to `error_msg`, and returns the code.
///
/// # Safety
/// Those of [`ErrorBuffer::write`].
unsafe fn run(error_msg: *mut c_char, error_msg_maxsize: c_ulonglong, call: impl FnOnce() -> Result<()>) -> c_int {
    // A forked child has no threads of the pool, and a lock may be held by a thread that it lacks.
    let checked = || fork_check::check().map_err(Error::from).and_then(|()| call());
    let Err(error) = catch_panic(checked) else { return PROVER_OK };
    // SAFETY: the caller says so.
    unsafe { ErrorBuffer::new(error_msg, error_msg_maxsize).write(&error.to_string()) };
    error.prover_code()
}

/// Sets `*public_size` to the bytes that the public signals of any witness of a zkey need, with the terminator.
///
/// Returns [`PROVER_OK`] or [`PROVER_ERROR`](crate::PROVER_ERROR).
///
/// # Safety
/// Each pointer is null or valid: `zkey_buffer` for reads of `zkey_size` bytes, `public_size` for writes, `error_msg` for
/// writes of `error_msg_maxsize` bytes. Nothing else writes to them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_public_size_for_zkey_buf(
    zkey_buffer: *const c_void,
    zkey_size: c_ulonglong,
    public_size: *mut c_ulonglong,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
) -> c_int {
    let call = || {
        let output = Output::new("public_size", public_size)?;
        // SAFETY: the caller says that the buffer has this size.
        let bytes = unsafe { borrow_bytes("zkey_buffer", zkey_buffer, zkey_size)? };
        let header = ZkeyHeader::from_bytes("zkey_buffer", bytes)?;
        // SAFETY: the caller says that it is writable.
        unsafe { output.write(max_public_bytes(&header)) };
        Ok(())
    };
    // SAFETY: the caller says that the error's memory is writable.
    unsafe { run(error_msg, error_msg_maxsize, call) }
}

/// Sets `*public_size` to the bytes that the public signals of any witness of a zkey file need, with the terminator.
///
/// Returns [`PROVER_OK`] or [`PROVER_ERROR`](crate::PROVER_ERROR).
///
/// # Safety
/// Each pointer is null or valid: `zkey_fname` for reads up to a terminator, `public_size` for writes, `error_msg` for
/// writes of `error_msg_maxsize` bytes. Nothing else writes to them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_public_size_for_zkey_file(
    zkey_fname: *const c_char,
    public_size: *mut c_ulonglong,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
) -> c_int {
    let call = || {
        let output = Output::new("public_size", public_size)?;
        // SAFETY: the caller says that it ends with a terminator.
        let header = ZkeyHeader::open(unsafe { copy_path("zkey_fname", zkey_fname)? })?;
        // SAFETY: the caller says that it is writable.
        unsafe { output.write(max_public_bytes(&header)) };
        Ok(())
    };
    // SAFETY: the caller says that the error's memory is writable.
    unsafe { run(error_msg, error_msg_maxsize, call) }
}

/// Sets `*proof_size` to the bytes that a proof of either curve needs at most, with the terminator.
///
/// # Safety
/// `proof_size` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_proof_size(proof_size: *mut c_ulonglong) {
    if let Ok(output) = Output::new("proof_size", proof_size) {
        // SAFETY: the caller says that it is writable.
        unsafe { output.write(MAX_PROOF_BYTES) };
    }
}

/// Sets `*prover_object` to the handle of a new prover for the zkey in `zkey_buffer`, which may be freed after the call.
///
/// Returns [`PROVER_OK`] or [`PROVER_ERROR`](crate::PROVER_ERROR).
///
/// # Safety
/// Each pointer is null or valid: `zkey_buffer` for reads of `zkey_size` bytes, `prover_object` for writes, `error_msg` for
/// writes of `error_msg_maxsize` bytes. Nothing else writes to them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_prover_create(
    prover_object: *mut *mut c_void,
    zkey_buffer: *const c_void,
    zkey_size: c_ulonglong,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
) -> c_int {
    let call = || {
        let output = Output::new("prover_object", prover_object)?;
        // SAFETY: the caller says that the buffer has this size.
        let zkey = copy_zkey(unsafe { borrow_bytes("zkey_buffer", zkey_buffer, zkey_size)? })?;
        let handle = handles::insert(create_prover(&zkey)?);
        // SAFETY: the caller says that it is writable.
        unsafe { output.write(handle) };
        Ok(())
    };
    // SAFETY: the caller says that the error's memory is writable.
    unsafe { run(error_msg, error_msg_maxsize, call) }
}

/// Sets `*prover_object` to the handle of a new prover for the zkey file `zkey_file_path`.
///
/// Returns [`PROVER_OK`] or [`PROVER_ERROR`](crate::PROVER_ERROR).
///
/// # Safety
/// Each pointer is null or valid: `zkey_file_path` for reads up to a terminator, `prover_object` for writes, `error_msg`
/// for writes of `error_msg_maxsize` bytes. Nothing else writes to them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_prover_create_zkey_file(
    prover_object: *mut *mut c_void,
    zkey_file_path: *const c_char,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
) -> c_int {
    let call = || {
        let output = Output::new("prover_object", prover_object)?;
        // SAFETY: the caller says that it ends with a terminator.
        let zkey = Zkey::open(unsafe { copy_path("zkey_file_path", zkey_file_path)? })?;
        let handle = handles::insert(create_prover(&zkey)?);
        // SAFETY: the caller says that it is writable.
        unsafe { output.write(handle) };
        Ok(())
    };
    // SAFETY: the caller says that the error's memory is writable.
    unsafe { run(error_msg, error_msg_maxsize, call) }
}

/// Proves a witness, and writes the texts of the proof and of the public signals. Sets sizes to the texts' lengths.
///
/// Returns one of [`PROVER_OK`], [`PROVER_ERROR`](crate::PROVER_ERROR),
/// [`PROVER_ERROR_SHORT_BUFFER`](crate::PROVER_ERROR_SHORT_BUFFER) and
/// [`PROVER_INVALID_WITNESS_LENGTH`](crate::PROVER_INVALID_WITNESS_LENGTH).
///
/// # Safety
/// `prover_object` may be any value. Each other pointer is null or valid, and nothing else writes to its memory during
/// the call:
/// - `wtns_buffer` for reads of `wtns_size` bytes;
/// - `proof_size` and `public_size` for reads and writes;
/// - `proof_buffer` for writes of `*proof_size` bytes;
/// - `public_buffer` for writes of `*public_size` bytes;
/// - `error_msg` for writes of `error_msg_maxsize` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_prover_prove(
    prover_object: *mut c_void,
    wtns_buffer: *const c_void,
    wtns_size: c_ulonglong,
    proof_buffer: *mut c_char,
    proof_size: *mut c_ulonglong,
    public_buffer: *mut c_char,
    public_size: *mut c_ulonglong,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
) -> c_int {
    let call = || {
        let prover = handles::find(prover_object)?;
        // SAFETY: the caller says that buffers have these sizes.
        let buffers = unsafe { Buffers::new((proof_buffer, proof_size), (public_buffer, public_size))? };
        // SAFETY: the caller says that the witness has this size.
        let call = unsafe { ProofCall::new(wtns_buffer, wtns_size, buffers)? };
        call.check(prover.header())?;
        call.prove(&prover)
    };
    // SAFETY: the caller says that the error's memory is writable.
    unsafe { run(error_msg, error_msg_maxsize, call) }
}

/// Frees the prover of a handle. Does nothing if there is none, or if the handle is null.
///
/// A proof that another thread makes meanwhile keeps the prover until it ends.
#[unsafe(no_mangle)]
pub extern "C" fn groth16_prover_destroy(prover_object: *mut c_void) {
    let destroy = || {
        drop(handles::remove(prover_object));
        Ok(())
    };
    if let Err(error) = catch_panic(destroy) {
        log::error!("groth16_prover_destroy: {error}");
    }
}

/// Proves a witness by the zkey in `zkey_buffer`, as [`groth16_prover_prove`] does. The key stays
/// on the devices until another zkey is given to a function that takes one for each proof.
///
/// Returns one of [`PROVER_OK`], [`PROVER_ERROR`](crate::PROVER_ERROR),
/// [`PROVER_ERROR_SHORT_BUFFER`](crate::PROVER_ERROR_SHORT_BUFFER) and
/// [`PROVER_INVALID_WITNESS_LENGTH`](crate::PROVER_INVALID_WITNESS_LENGTH).
///
/// # Safety
/// Each pointer is null or valid: `zkey_buffer` for reads of `zkey_size` bytes, the others as in
/// [`groth16_prover_prove`]. Nothing else writes to them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_prover(
    zkey_buffer: *const c_void,
    zkey_size: c_ulonglong,
    wtns_buffer: *const c_void,
    wtns_size: c_ulonglong,
    proof_buffer: *mut c_char,
    proof_size: *mut c_ulonglong,
    public_buffer: *mut c_char,
    public_size: *mut c_ulonglong,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
) -> c_int {
    let call = || {
        // SAFETY: the caller says that buffers have these sizes.
        let buffers = unsafe { Buffers::new((proof_buffer, proof_size), (public_buffer, public_size))? };
        // SAFETY: the caller says that the witness has this size.
        let call = unsafe { ProofCall::new(wtns_buffer, wtns_size, buffers)? };
        // SAFETY: the caller says that the zkey has this size.
        let bytes = unsafe { borrow_bytes("zkey_buffer", zkey_buffer, zkey_size)? };
        call.check(&ZkeyHeader::from_bytes("zkey_buffer", bytes)?)?;
        prove_with_last_key(ZkeyIdentity::from_bytes(bytes), &call, || create_prover(&copy_zkey(bytes)?))
    };
    // SAFETY: the caller says that the error's memory is writable.
    unsafe { run(error_msg, error_msg_maxsize, call) }
}

/// Proves a witness by the zkey file `zkey_file_path`, as [`groth16_prover_prove`] does. The key stays
/// on the devices until another zkey is given to a function that takes one for each proof.
///
/// Returns one of [`PROVER_OK`], [`PROVER_ERROR`](crate::PROVER_ERROR),
/// [`PROVER_ERROR_SHORT_BUFFER`](crate::PROVER_ERROR_SHORT_BUFFER) and
/// [`PROVER_INVALID_WITNESS_LENGTH`](crate::PROVER_INVALID_WITNESS_LENGTH).
///
/// # Safety
/// Each pointer is null or valid: `zkey_file_path` for reads up to a terminator, the others as in
/// [`groth16_prover_prove`]. Nothing else writes to them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn groth16_prover_zkey_file(
    zkey_file_path: *const c_char,
    wtns_buffer: *const c_void,
    wtns_size: c_ulonglong,
    proof_buffer: *mut c_char,
    proof_size: *mut c_ulonglong,
    public_buffer: *mut c_char,
    public_size: *mut c_ulonglong,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
) -> c_int {
    let call = || {
        // SAFETY: the caller says that buffers have these sizes.
        let buffers = unsafe { Buffers::new((proof_buffer, proof_size), (public_buffer, public_size))? };
        // SAFETY: the caller says that the witness has this size.
        let call = unsafe { ProofCall::new(wtns_buffer, wtns_size, buffers)? };
        // SAFETY: the caller says that it ends with a terminator.
        let zkey = Zkey::open(unsafe { copy_path("zkey_file_path", zkey_file_path)? })?;
        call.check(zkey.header())?;
        prove_with_last_key(zkey.identity(), &call, || create_prover(&zkey))
    };
    // SAFETY: the caller says that the error's memory is writable.
    unsafe { run(error_msg, error_msg_maxsize, call) }
}

/// Copies and checks the zkey `bytes`.
///
/// # Errors
/// - [`Error::Memory`]: there is too little memory.
/// - [`Zkey::from_bytes`] lists the others.
fn copy_zkey(bytes: &[u8]) -> Result<Zkey> {
    Ok(Zkey::from_bytes("zkey_buffer", try_copy("zkey_buffer", bytes)?)?)
}

/// Keeps the last key of the functions that take a zkey for each proof. One key takes no more memory than stock.
static LAST_KEY: KeyCache<ZkeyIdentity, AnyProvingKey> = KeyCache::new(1);

/// Proves by the last key if it has `identity`, and otherwise by the key that `load` returns, which is kept.
///
/// Zkeys of one identity may differ in points or coefficients that are damaged in one of them. So a proof that is not
/// verified is made by a separate key. An invalid proof is made again by a new key.
fn prove_with_last_key(
    identity: Option<ZkeyIdentity>,
    call: &ProofCall,
    load: impl Fn() -> Result<AnyProvingKey> + Send + Sync,
) -> Result<()> {
    if !verifies()? {
        return call.prove(&load()?);
    }
    let mut is_new = false;
    let prove = |is_new: &mut bool| {
        let load = || {
            *is_new = true;
            load()
        };
        call.prove(&*LAST_KEY.find_or_load(identity.clone(), load)?)
    };
    match prove(&mut is_new) {
        Err(Error::Circom(error)) if !is_new && matches!(*error, proofwarp_circom::Error::InvalidProof { .. }) => {
            if let Some(identity) = &identity {
                LAST_KEY.remove(identity);
            }
            prove(&mut is_new)
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    type Call = fn() -> Result<()>;

    #[test]
    fn panics_become_errors() {
        let mut error = [0; 100];
        let panics: [(Call, &str); 3] = [
            (|| panic!("a text"), "internal error: expected a result, got a panic: a text"),
            (|| panic!("number {}", 7), "internal error: expected a result, got a panic: number 7"),
            (|| panic_any(7), "internal error: expected a result, got a panic: without a text"),
        ];
        for (call, expected) in panics {
            // SAFETY: the buffer has this size.
            let code = unsafe { run(error.as_mut_ptr(), error.len() as c_ulonglong, call) };
            assert_eq!(code, crate::PROVER_ERROR);
            // SAFETY: the call has written a terminator.
            let text = unsafe { std::ffi::CStr::from_ptr(error.as_ptr()) };
            assert_eq!(text.to_str(), Ok(expected));
        }
    }
}
