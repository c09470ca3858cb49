//! The caller's question whether to stop.

use std::fmt;
use std::sync::Arc;

/// "Stop now?", asked by the thread that proves and by those that work for it.
#[derive(Clone)]
pub struct Hook(Arc<dyn Fn() -> bool + Send + Sync>);

impl Hook {
    /// A hook that asks a function.
    pub fn new(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    pub(super) fn question(&self) -> &(dyn Fn() -> bool + Send + Sync) {
        &*self.0
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").finish_non_exhaustive()
    }
}
