//! The caller's hook that stops an operation.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use super::lock;
use crate::{Error, Result};

/// The caller's question "stop now?", asked at least every few milliseconds.
pub type Abort<'a> = Option<&'a (dyn Fn() -> bool + Send + Sync)>;

/// An error if the hook says stop.
///
/// # Errors
/// [`Error::Aborted`].
pub(crate) fn check_abort(abort: Abort<'_>) -> Result<()> {
    if abort.is_some_and(|abort| abort()) { Err(Error::Aborted) } else { Ok(()) }
}

/// Does work with a hook whose panic ends the work as an abort does, and goes on here once the work has ended: so inputs are
/// as they were, and devices in order. All that takes a hook of a caller's asks it through this.
///
/// # Errors
/// Those of the work.
///
/// # Panics
/// The hook panicked.
pub fn guarded<T>(abort: Abort<'_>, work: impl FnOnce(Abort<'_>) -> Result<T>) -> Result<T> {
    let Some(hook) = abort else { return work(None) };
    let panicked = Mutex::new(None);
    let keep = |panic| {
        lock(&panicked).get_or_insert(panic);
        true
    };
    // A hook that panicked is not asked again.
    let has_panicked = || lock(&panicked).is_some();
    let ask = || has_panicked() || catch_unwind(AssertUnwindSafe(hook)).unwrap_or_else(keep);
    let result = work(Some(&ask));
    let panicked = panicked.into_inner().unwrap_or_else(PoisonError::into_inner);
    panicked.map_or(result, |panic| resume_unwind(panic))
}
