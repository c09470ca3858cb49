//! Checks lengths.

use crate::{Error, Result};

/// Names this module in errors of its checks.
pub(super) const ERROR_CONTEXT: &str = "groth16";

/// Checks that a length is as expected.
///
/// # Errors
/// - [`Error::Invalid`]: `actual` differs from `expected`.
pub(super) fn equal(what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(ERROR_CONTEXT, what, expected, actual)) }
}
