//! Holds the caller's abort hook.

use std::fmt;
use std::sync::Arc;

/// Holds the caller's function that returns true if the proof must stop. The proof's own thread and its helper threads
/// call it.
#[derive(Clone)]
pub struct AbortHook(Arc<dyn Fn() -> bool + Send + Sync>);

impl AbortHook {
    /// Creates a hook that calls `ask`, which returns true to stop the proof.
    pub fn new(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    pub(super) fn callback(&self) -> &(dyn Fn() -> bool + Send + Sync) {
        &*self.0
    }
}

impl fmt::Debug for AbortHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHook").finish_non_exhaustive()
    }
}
