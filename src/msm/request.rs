//! What every multiplication is checked for first, and what reports call it.

use crate::curve::MsmCurve;
use crate::report::Call;
use crate::{Error, Result};

/// Whether there is a scalar for each base.
///
/// # Errors
/// There are not as many scalars as bases.
pub(super) fn check_lengths(bases: usize, scalars: usize) -> Result<()> {
    if bases == scalars { Ok(()) } else { Err(Error::invalid("msm", "number of scalars", bases, scalars)) }
}

/// A call of so many scalars, as reports name it.
pub(super) fn call<C: MsmCurve>(elements: usize) -> Call {
    Call { operation: format!("msm {}", C::NAME), elements }
}
