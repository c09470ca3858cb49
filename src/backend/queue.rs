//! A device's queue of commands.

use std::sync::Arc;

use super::{Driver, MemoryHandle, StreamHandle};
use crate::Result;

/// An in-order queue: what memory is waited for by.
#[derive(Debug)]
pub(super) struct Queue {
    driver: Arc<dyn Driver>,
    /// Which of the device's queues it is, by time of making.
    pub number: usize,
    pub handle: StreamHandle,
}

impl Queue {
    pub fn new(driver: Arc<dyn Driver>, number: usize) -> Result<Self> {
        let handle = driver.stream_create()?;
        Ok(Self { driver, number, handle })
    }

    /// Queues zeros over a part of memory that is the caller's.
    pub fn clear_range(&self, memory: MemoryHandle, offset: usize, bytes: usize) {
        // SAFETY: the range (multiples of 4) is in the block, which is still the caller's. Should the driver
        // fail here the device is lost, and its memory with it.
        let _ = unsafe { self.driver.zero(self.handle, memory, offset, bytes) };
    }

    pub fn synchronize(&self) {
        // SAFETY: the handle is live. A failure here shows again at the next call that returns one.
        let _ = unsafe { self.driver.stream_synchronize(self.handle) };
    }

    /// Lets what is queued from now on wait for what another queue of the driver has now.
    pub fn wait_for(&self, other: &Self) -> Result<()> {
        if other.number == self.number {
            return Ok(());
        }
        // SAFETY: both queues are live and of one driver; the event is used here alone.
        unsafe {
            let event = self.driver.event_record(other.handle)?;
            let waits = self.driver.stream_wait(self.handle, event);
            self.driver.event_free(event);
            waits
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: whoever holds a queue last has waited for what it queued, and the handle is not used again.
        unsafe { self.driver.stream_free(self.handle) };
    }
}
