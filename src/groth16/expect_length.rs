//! Checks lengths.

use crate::{Error, Result};

/// Names the module in errors of its input checks.
pub(super) const ERROR_CONTEXT: &str = "groth16";

/// Checks that the length `actual` equals `expected`. `what` names the length in the error.
///
/// # Errors
/// - [`Error::Invalid`]: `actual` differs from `expected`.
pub(super) fn check_length(what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(ERROR_CONTEXT, what, expected, actual)) }
}
