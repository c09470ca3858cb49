//! A stream's queue, its memory pool and its staging ring, which outlive the stream's holders.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::device::{Shared, lock};
use super::staging::Ring;
use super::{MemoryHandle, Pinned, StreamHandle};
use crate::Result;

/// What outlives a stream's owners: the queue, its free blocks and its staging slots. Idle ones belong to
/// the device, so it must not refer to the device itself.
#[derive(Debug)]
pub(super) struct StreamCore {
    pub(super) shared: Arc<Shared>,
    number: usize,
    pub(super) handle: StreamHandle,
    free: Mutex<BTreeMap<usize, Vec<MemoryHandle>>>,
    pub(super) ring: Mutex<Ring>,
    pinned: Mutex<Vec<Pinned>>,
}

impl StreamCore {
    pub(super) fn new(shared: Arc<Shared>, number: usize) -> Result<Self> {
        let handle = shared.driver.stream_create()?;
        Ok(Self { shared, number, handle, free: Mutex::default(), ring: Mutex::default(), pinned: Mutex::default() })
    }

    /// Which of the device's streams it is, by time of making.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn pooled_bytes(&self) -> u64 {
        lock(&self.free).iter().map(|(bytes, blocks)| (bytes * blocks.len()) as u64).sum()
    }

    /// Returns a block to the pool, cleared by the stream first if it was secret.
    pub(super) fn give_back(&self, memory: MemoryHandle, bytes: usize, secret: bool) {
        if secret {
            // SAFETY: the block is `bytes` long (a multiple of 4) and still ours. Should the driver
            // fail here the device is lost, and its memory with it.
            let _ = unsafe { self.shared.driver.zero(self.handle, memory, 0, bytes) };
        }
        lock(&self.free).entry(bytes).or_default().push(memory);
    }

    pub(super) fn synchronize(&self) {
        // SAFETY: the handle is live. A failure here shows again at the next call that returns one.
        let _ = unsafe { self.shared.driver.stream_synchronize(self.handle) };
    }

    pub(super) fn give_back_pinned(&self, pinned: Pinned) {
        lock(&self.pinned).push(pinned);
    }

    /// Page-locked memory of at least `bytes`: an idle block of up to twice the size, or a new one.
    pub(super) fn take_pinned(&self, bytes: usize) -> Result<Pinned> {
        let mut idle = lock(&self.pinned);
        let fits = |pinned: &Pinned| pinned.bytes >= bytes && pinned.bytes <= 2 * bytes;
        match idle.iter().position(fits) {
            Some(at) => Ok(idle.swap_remove(at)),
            None => self.shared.driver.pinned_allocate(bytes),
        }
    }

    /// The smallest free block that is large enough and not more than twice as large.
    pub(super) fn take(&self, bytes: usize) -> Option<(MemoryHandle, usize)> {
        let mut free = lock(&self.free);
        let (&size, blocks) = free.range_mut(bytes..=2 * bytes).find(|(_, blocks)| !blocks.is_empty())?;
        blocks.pop().map(|memory| (memory, size))
    }

    pub(super) fn trim(&self) {
        let blocks = std::mem::take(&mut *lock(&self.free));
        // After this no queued command uses a free block.
        self.synchronize();
        for (bytes, blocks) in blocks {
            for memory in blocks {
                // SAFETY: a free block has no owner, and the stream has run empty.
                unsafe { self.shared.free(memory, bytes) };
            }
        }
    }
}

impl Drop for StreamCore {
    fn drop(&mut self) {
        self.trim();
        lock(&self.ring).free(&*self.shared.driver);
        for pinned in lock(&self.pinned).drain(..) {
            // SAFETY: an idle block has no owner, and the stream has run empty.
            unsafe { self.shared.driver.pinned_free(pinned) };
        }
        // SAFETY: nothing is queued any more and the handle is not used again.
        unsafe { self.shared.driver.stream_free(self.handle) };
    }
}
