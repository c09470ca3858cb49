//! Events, which mark points on streams.

use std::sync::Arc;

use super::stream_inner::StreamInner;
use crate::backend::EventHandle;

/// Marks a point on a stream, for which the host and other streams can wait.
#[derive(Debug)]
pub struct Event {
    pub(crate) handle: EventHandle,
    /// Number among the stream's events, counted from 1.
    pub(crate) number: u64,
    pub(crate) core: Arc<StreamInner>,
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is live and not used again.
        unsafe { self.core.shared.driver.event_free(self.handle) };
    }
}
