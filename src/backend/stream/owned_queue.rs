//! A device's command queue.

use std::sync::Arc;

use crate::Result;
use crate::backend::{Driver, MemoryHandle, StreamHandle};

/// Owns an in-order command queue of a device, which is destroyed when this is dropped.
#[derive(Debug)]
pub(crate) struct Queue {
    driver: Arc<dyn Driver>,
    /// Number among the device's queues, from 0 on, in order of creation.
    pub number: usize,
    pub handle: StreamHandle,
}

impl Queue {
    pub(crate) fn new(driver: Arc<dyn Driver>, number: usize) -> Result<Self> {
        let handle = driver.stream_create()?;
        Ok(Self { driver, number, handle })
    }

    /// Queues a command that writes zeros over `bytes` of `memory`, from byte `offset` on. The caller owns this
    /// memory.
    pub(crate) fn enqueue_clear(&self, memory: MemoryHandle, offset: usize, bytes: usize) {
        // SAFETY: the range (multiples of 4) is in the block, which is still the caller's. If the driver fails here,
        // the device is lost, and its memory with it.
        let _ = unsafe { self.driver.zero_memory(self.handle, memory, offset, bytes) };
    }

    pub(crate) fn synchronize(&self) {
        // SAFETY: the handle is live. The next call that returns a result reports a failure.
        let _ = unsafe { self.driver.stream_synchronize(self.handle) };
    }

    /// Makes commands queued from now on wait for all commands that `other` has queued so far. Both queues are of one
    /// driver.
    pub(crate) fn enqueue_wait(&self, other: &Self) -> Result<()> {
        if other.number == self.number {
            return Ok(());
        }
        // SAFETY: both queues are live and of one driver.
        unsafe { self.driver.stream_wait_stream(self.handle, other.handle) }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the last holder of a queue has waited for its commands, and the handle is not used again.
        unsafe { self.driver.stream_free(self.handle) };
    }
}
