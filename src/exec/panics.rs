//! Turns panics into errors.

use std::thread;

use crate::{Error, Result};

/// Returns the result of `outcome`, which `catch_unwind` or a thread gave. A panic becomes an error of `operation` with
/// the panic's text.
///
/// # Errors
/// - The work failed: its error.
/// - [`Error::Device`]: the work panicked.
pub(crate) fn flatten_panic<T>(operation: &str, outcome: thread::Result<Result<T>>) -> Result<T> {
    outcome.unwrap_or_else(|panic| Err(Error::worker_panicked(operation, &*panic)))
}
