//! Checks of lengths.

use crate::{Error, Result};

/// Where errors of this module's checks say that they come from.
pub(super) const PLACE: &str = "groth16";

/// Whether a length is as expected.
///
/// # Errors
/// It is another.
pub(super) fn equal(what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(PLACE, what, expected, actual)) }
}
