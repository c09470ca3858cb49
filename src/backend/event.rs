//! Events, which mark points on streams.

use std::sync::Arc;

use super::EventHandle;
use super::stream_inner::StreamInner;

/// Marks a point on a stream, for which the host and other streams can wait.
#[derive(Debug)]
pub struct Event {
    pub(super) handle: EventHandle,
    /// Number among the stream's events, counted from 1.
    pub(super) number: u64,
    pub(super) core: Arc<StreamInner>,
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is live and not used again.
        unsafe { self.core.shared.driver.event_free(self.handle) };
    }
}
