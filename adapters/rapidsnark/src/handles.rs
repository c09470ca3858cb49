//! Finds provers by the handles that callers hold.
//!
//! A handle is a number in a pointer's type, and points to no memory. A handle that is wrong or was destroyed is not in
//! the table, so it is an error instead of undefined behaviour. Numbers count up from 1, so no handle is null, and none
//! returns after its prover was destroyed.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proofwarp_circom::AnyProvingKey;

use crate::error::{Error, Result};

static TABLE: Mutex<HandleTable> = Mutex::new(HandleTable { last: 0, provers: BTreeMap::new() });

struct HandleTable {
    last: usize,
    provers: BTreeMap<usize, Arc<AnyProvingKey>>,
}

/// Locks the table. A panic of another thread left it whole, for no code that may panic runs under the lock.
fn lock() -> MutexGuard<'static, HandleTable> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds `prover`, and returns its handle.
pub(crate) fn insert(prover: AnyProvingKey) -> *mut c_void {
    let mut table = lock();
    table.last += 1;
    let handle = table.last;
    table.provers.insert(handle, Arc::new(prover));
    std::ptr::without_provenance_mut(handle)
}

/// Returns the prover of `handle`. It lives as long as the result, even if it is removed meanwhile.
///
/// # Errors
/// - [`Error::Null`]: `handle` is null.
/// - [`Error::Handle`]: the table has no such handle.
pub(crate) fn find(handle: *mut c_void) -> Result<Arc<AnyProvingKey>> {
    if handle.is_null() {
        return Err(Error::Null { argument: "prover_object" });
    }
    let handle = handle.addr();
    lock().provers.get(&handle).cloned().ok_or(Error::Handle { handle })
}

/// Removes the prover of `handle`, if there is one. The caller drops it without the lock.
pub(crate) fn remove(handle: *mut c_void) -> Option<Arc<AnyProvingKey>> {
    lock().provers.remove(&handle.addr())
}
