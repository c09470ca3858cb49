//! Points on streams.

use std::sync::Arc;

use super::EventHandle;
use super::core::StreamCore;

/// A point on a stream that others wait for.
#[derive(Debug)]
pub struct Mark {
    pub(super) event: EventHandle,
    /// Its number among the stream's events.
    pub(super) number: u64,
    pub(super) core: Arc<StreamCore>,
}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: the event is live and not used again.
        unsafe { self.core.shared.driver.event_free(self.event) };
    }
}
