//! A stream's queue, its memory pool and its staging ring, which outlive the stream's holders.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::device::{Shared, lock};
use super::staging::Ring;
use super::{MemoryHandle, Pinned, StreamHandle};
use crate::Result;

/// What a block may hold, and so who may have it and what it costs to give it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    /// Nothing that matters.
    Plain,
    /// Secrets: cleared as soon as it is given back.
    Secret,
    /// What secrets were turned into on the way to a result: cleared before anything but scratch memory gets it,
    /// or before it is freed.
    Scratch,
}

/// A block from a pool is larger than asked for by at most one in so many bytes.
pub(crate) const SLACK: usize = 8;

/// Free blocks by size.
#[derive(Debug, Default)]
struct Pool(BTreeMap<usize, Vec<MemoryHandle>>);

impl Pool {
    /// The smallest block that is large enough and not more than an eighth larger.
    fn take(&mut self, bytes: usize) -> Option<(MemoryHandle, usize)> {
        let (&size, blocks) = self.0.range_mut(bytes..=bytes + bytes / SLACK).find(|(_, blocks)| !blocks.is_empty())?;
        blocks.pop().map(|memory| (memory, size))
    }

    fn bytes(&self) -> u64 {
        self.0.iter().map(|(bytes, blocks)| (bytes * blocks.len()) as u64).sum()
    }
}

/// What outlives a stream's owners: the queue, its free blocks and its staging slots. Idle ones belong to
/// the device, so it must not refer to the device itself.
#[derive(Debug)]
pub(super) struct StreamCore {
    pub(super) shared: Arc<Shared>,
    number: usize,
    pub(super) handle: StreamHandle,
    clean: Mutex<Pool>,
    scratch: Mutex<Pool>,
    pub(super) ring: Mutex<Ring>,
    pinned: Mutex<Vec<Pinned>>,
}

impl StreamCore {
    pub(super) fn new(shared: Arc<Shared>, number: usize) -> Result<Self> {
        let handle = shared.driver.stream_create()?;
        Ok(Self {
            shared,
            number,
            handle,
            clean: Mutex::default(),
            scratch: Mutex::default(),
            ring: Mutex::default(),
            pinned: Mutex::default(),
        })
    }

    /// Which of the device's streams it is, by time of making.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn pooled_bytes(&self) -> u64 {
        lock(&self.clean).bytes() + lock(&self.scratch).bytes()
    }

    /// Returns a block to the pools.
    pub(super) fn give_back(&self, memory: MemoryHandle, bytes: usize, contents: Contents) {
        if contents == Contents::Secret {
            self.clear(memory, bytes);
        }
        let pool = if contents == Contents::Scratch { &self.scratch } else { &self.clean };
        lock(pool).0.entry(bytes).or_default().push(memory);
    }

    /// Queues zeros over a block that is ours.
    fn clear(&self, memory: MemoryHandle, bytes: usize) {
        self.clear_range(memory, 0, bytes);
    }

    /// Queues zeros over a part of a block that is ours.
    pub(super) fn clear_range(&self, memory: MemoryHandle, offset: usize, bytes: usize) {
        // SAFETY: the range (multiples of 4) is in the block, which is still ours. Should the driver
        // fail here the device is lost, and its memory with it.
        let _ = unsafe { self.shared.driver.zero(self.handle, memory, offset, bytes) };
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

    /// A free block of at least `bytes`, for contents of this kind.
    pub(super) fn take(&self, bytes: usize, contents: Contents) -> Option<(MemoryHandle, usize)> {
        if contents == Contents::Scratch {
            return lock(&self.scratch).take(bytes).or_else(|| lock(&self.clean).take(bytes));
        }
        let clean = lock(&self.clean).take(bytes);
        clean.or_else(|| {
            let (memory, bytes) = lock(&self.scratch).take(bytes)?;
            self.clear(memory, bytes);
            Some((memory, bytes))
        })
    }

    pub(super) fn trim(&self) {
        let scratch = std::mem::take(&mut lock(&self.scratch).0);
        for (&bytes, blocks) in &scratch {
            for memory in blocks {
                self.clear(*memory, bytes);
            }
        }
        let clean = std::mem::take(&mut lock(&self.clean).0);
        // After this no queued command uses a free block.
        self.synchronize();
        for (bytes, blocks) in clean.into_iter().chain(scratch) {
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
