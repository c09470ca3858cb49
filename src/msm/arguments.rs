//! Checks that every multiplication starts with, and its name in reports.

use crate::curve::MsmCurve;
use crate::report::OpScope;
use crate::{Error, Result};

/// Checks that there is a scalar for each base.
///
/// # Errors
/// - [`Error::Invalid`]: `scalars` differs from `bases`.
pub(super) fn check_lengths(bases: usize, scalars: usize) -> Result<()> {
    if bases == scalars { Ok(()) } else { Err(Error::invalid("msm", "number of scalars", bases, scalars)) }
}

/// Returns the call of a multiplication by `elements` scalars, as reports name it.
pub(super) fn call<C: MsmCurve>(elements: usize) -> OpScope {
    OpScope { operation: format!("msm {}", C::NAME), elements }
}
