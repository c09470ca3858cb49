//! Keeps what callers hold as raw pointers in tables. A pointer is a key, and is never dereferenced.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use proofwarp_supraseal::{Error, Proofs};

/// Holds values by the pointers that stand for them.
pub(crate) struct Table<T>(LazyLock<Mutex<HashMap<usize, T>>>);

impl<T> Table<T> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// Inserts `value` at the address `key`.
    pub(crate) fn insert(&self, key: *mut c_void, value: T) {
        lock(&self.0).insert(key.addr(), value);
    }

    /// Removes and returns the value at the address `key`.
    pub(crate) fn take(&self, key: *mut c_void) -> Option<T> {
        lock(&self.0).remove(&key.addr())
    }
}

/// Locks `mutex`. A panic of another holder has left nothing half done.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the error of the argument `what`, which should be `expected` and is `actual`.
pub(crate) fn invalid(what: &str, expected: &str, actual: impl ToString) -> Error {
    Error::Invalid { what: what.into(), expected: expected.into(), actual: actual.to_string() }
}

/// Returns a pointer that no other call returns. It is not null.
fn create_key() -> *mut c_void {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    std::ptr::without_provenance_mut(LAST.fetch_add(1, Ordering::Relaxed) + 1)
}

static LOCKS: Table<Arc<Mutex<()>>> = Table::new();
static PENDING: Table<Proofs> = Table::new();

/// Keeps the locks that callers hold while a device proves.
pub(crate) struct GpuLocks;

impl GpuLocks {
    /// Creates a lock, and returns its pointer.
    pub(crate) fn create() -> *mut c_void {
        let key = create_key();
        LOCKS.insert(key, Arc::default());
        key
    }

    /// Returns the lock of `key`, or the one that all calls share if `key` is null.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such lock.
    pub(crate) fn find(key: *mut c_void) -> Result<Arc<Mutex<()>>, Error> {
        static SHARED: LazyLock<Arc<Mutex<()>>> = LazyLock::new(Arc::default);
        if key.is_null() {
            return Ok(SHARED.clone());
        }
        let found = lock(&LOCKS.0).get(&key.addr()).cloned();
        found.ok_or_else(|| invalid("gpu_mtx", "null, or a lock of alloc_gpu_mutex", format!("{key:p}")))
    }

    /// Removes the lock of `key`. Returns whether there was one.
    pub(crate) fn free(key: *mut c_void) -> bool {
        LOCKS.take(key).is_some()
    }
}

/// Keeps the proofs that callers have not fetched yet.
pub(crate) struct PendingProofs;

impl PendingProofs {
    /// Keeps `proofs`, and returns their handle.
    pub(crate) fn insert(proofs: Proofs) -> *mut c_void {
        let key = create_key();
        PENDING.insert(key, proofs);
        key
    }

    /// Removes and returns the proofs of `handle`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are no such proofs.
    pub(crate) fn take(handle: *mut c_void) -> Result<Proofs, Error> {
        let expected = "one of start_groth16_proof, not finished or dropped yet";
        PENDING.take(handle).ok_or_else(|| invalid("handle of a proof", expected, format!("{handle:p}")))
    }
}
