//! Keeps events for reuse. The driver creates and destroys events under a lock that stops its other threads.

use std::sync::Mutex;

use crate::backend::{EventHandle, lock};

/// Holds the events of one device that nobody uses. They are as many as were in use at once.
#[derive(Debug, Default)]
pub(super) struct EventPool(Mutex<Vec<EventHandle>>);

impl EventPool {
    /// Takes an event. The caller records it before any other use. `None` if all are in use.
    pub(super) fn take(&self) -> Option<EventHandle> {
        lock(&self.0).pop()
    }

    /// Takes back `event`, which no other call uses from now on.
    pub(super) fn put(&self, event: EventHandle) {
        lock(&self.0).push(event);
    }
}
