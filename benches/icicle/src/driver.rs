//! Asks the CUDA driver for the card's name, and sets how its memory pool behaves: icicle has no functions for that.

use std::ffi::{CStr, c_char, c_int, c_void};

use bench_support::Failure;
use libloading::{Library, Symbol};

const LIBRARY: &str = "libcuda.so.1";

/// Identifies the first card, which icicle's device 0 is.
const CARD: c_int = 0;

/// Identifies the attribute `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`.
const RELEASE_THRESHOLD: c_int = 4;

/// Holds the driver's library.
pub struct Driver(Library);

impl Driver {
    /// Loads and initialises the driver.
    pub fn open() -> Result<Self, Failure> {
        // SAFETY: the driver's library may be loaded anywhere; its constructors require nothing.
        let library = unsafe { Library::new(LIBRARY) }.map_err(|error| format!("no CUDA driver: {error}"))?;
        let driver = Self(library);
        // SAFETY: this is the function's signature.
        let init: Symbol<unsafe extern "C" fn(c_int) -> c_int> = unsafe { driver.0.get(b"cuInit\0") }?;
        // SAFETY: 0 is the only value that the driver takes.
        check("cuInit", unsafe { init(0) })?;
        Ok(driver)
    }

    /// Returns the name of the card.
    pub fn card_name(&self) -> Result<String, Failure> {
        type GetName = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: this is the function's signature.
        let get_name: Symbol<GetName> = unsafe { self.0.get(b"cuDeviceGetName\0") }?;
        // SAFETY: a string of at most 255 bytes and its end are written.
        check("cuDeviceGetName", unsafe { get_name(name.as_mut_ptr(), 255, CARD) })?;
        // SAFETY: the array was zero before, so a string ends in it.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// Lets the card's memory pool keep its memory. By default each synchronization returns it to the driver, and the
    /// next call of icicle, which allocates all its memory from the pool, requests it again.
    pub fn keep_pool_memory(&self) -> Result<(), Failure> {
        type GetPool = unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int;
        type SetAttribute = unsafe extern "C" fn(*mut c_void, c_int, *const u64) -> c_int;
        let mut pool = std::ptr::null_mut();
        // SAFETY: this is the function's signature.
        let get_pool: Symbol<GetPool> = unsafe { self.0.get(b"cuDeviceGetDefaultMemPool\0") }?;
        // SAFETY: one pointer is written.
        check("cuDeviceGetDefaultMemPool", unsafe { get_pool(&raw mut pool, CARD) })?;
        // SAFETY: this is the function's signature.
        let set_attribute: Symbol<SetAttribute> = unsafe { self.0.get(b"cuMemPoolSetAttribute\0") }?;
        // SAFETY: the pool is the driver's, and the value of this attribute has 64 bits.
        check("cuMemPoolSetAttribute", unsafe { set_attribute(pool, RELEASE_THRESHOLD, &u64::MAX) })
    }
}

fn check(call: &str, code: c_int) -> Result<(), Failure> {
    match code {
        0 => Ok(()),
        100 => Err(format!("{call}: no CUDA card is there (100)").into()),
        code => Err(format!("{call}: CUDA error {code}").into()),
    }
}
