//! Checks that every multiplication starts with, and its name in reports.

use crate::curve::MsmCurve;
use crate::report::OpScope;
use crate::{Error, Result};

/// Checks that the number `scalars` equals the number `bases`.
///
/// # Errors
/// - [`Error::Invalid`]: `scalars` differs from `bases`.
pub(super) fn check_lengths(bases: usize, scalars: usize) -> Result<()> {
    if bases == scalars { Ok(()) } else { Err(Error::invalid("msm", "number of scalars", bases, scalars)) }
}

/// Returns the name of a multiplication on curve `C` in reports, and its number of scalars, `elements`.
pub(super) fn op_scope<C: MsmCurve>(elements: usize) -> OpScope {
    OpScope { operation: format!("msm {}", C::NAME), elements }
}
