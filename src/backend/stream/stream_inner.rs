//! A stream's queue and staging ring, which outlive the stream's holders; how it takes memory and gives it back.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::owned_queue::Queue;
use crate::Result;
use crate::backend::host_copies::StagingRing;
use crate::backend::memory::{Block, DeviceAllocator, ForeignMemory, FreeBlock};
use crate::backend::{MemoryHandle, PinnedAlloc, StreamHandle, lock};

/// Classifies the contents of a block, which decides when it is cleared and who may reuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sensitivity {
    /// No secrets.
    Plain,
    /// Secrets, which are cleared when the block is given back.
    Secret,
    /// Intermediate values derived from secrets, which are cleared before the block is freed, or reused for anything
    /// but scratch memory.
    Scratch,
}

/// Holds the parts of a stream that outlive its holder: the queue and the staging slots. The device owns the idle
/// ones, so this type must not refer to the device.
#[derive(Debug)]
pub(crate) struct StreamInner {
    pub(crate) shared: Arc<DeviceAllocator>,
    queue: Arc<Queue>,
    /// Handle of `queue`.
    pub(crate) handle: StreamHandle,
    pub(crate) ring: Mutex<StagingRing>,
    pinned: Mutex<Vec<PinnedAlloc>>,
    /// Count of events that the stream's holder has recorded.
    events: AtomicU64,
    /// Number of the last event that the host has waited for.
    passed: AtomicU64,
    /// Number of the last event that the queue waits for, by the number of the other stream that recorded it.
    awaited: Mutex<HashMap<usize, u64>>,
}

impl StreamInner {
    pub(crate) fn new(shared: Arc<DeviceAllocator>) -> Result<Self> {
        let queue = shared.new_queue()?;
        let handle = queue.handle;
        let [events, passed] = [(); 2].map(|()| AtomicU64::new(0));
        let (ring, pinned, awaited) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok(Self { shared, queue, handle, ring, pinned, events, passed, awaited })
    }

    /// Returns the stream's number on its device, from 0 on, in order of creation.
    pub(crate) fn stream_index(&self) -> usize {
        self.queue.number
    }

    /// Gives the memory `place` back to the pool. Secret contents are cleared first, through the handle `memory`.
    pub(crate) fn release_block(&self, memory: MemoryHandle, place: Block, contents: Sensitivity) {
        if contents == Sensitivity::Secret {
            self.enqueue_clear(memory, 0, place.bytes);
        }
        let dirty = contents == Sensitivity::Scratch;
        lock(&self.shared.pool).add_free_block(FreeBlock { place, users: vec![self.stream_index()], dirty });
    }

    /// Makes the next command wait for all commands that the owner of `foreign` has queued on its stream.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub(crate) fn wait_foreign(&self, foreign: &dyn ForeignMemory) -> Result<()> {
        // SAFETY: the type's author promises that the stream is live, and of the primary context, as ours are.
        unsafe { self.shared.driver.stream_wait_stream(self.handle, StreamHandle(foreign.stream())) }
    }

    /// Clears `foreign`, and makes the next command of its owner wait for that. The caller's commands on it are queued.
    pub(crate) fn return_foreign(&self, foreign: &dyn ForeignMemory) {
        self.enqueue_clear(MemoryHandle(foreign.address()), 0, foreign.bytes());
        // SAFETY: as in `wait_foreign`.
        let ordered = unsafe { self.shared.driver.stream_wait_stream(StreamHandle(foreign.stream()), self.handle) };
        if ordered.is_err() {
            self.synchronize();
        }
    }

    /// Queues a command that writes zeros over `bytes` of `memory`, from byte `offset` on. The stream owns this
    /// memory.
    pub(crate) fn enqueue_clear(&self, memory: MemoryHandle, offset: usize, bytes: usize) {
        self.queue.enqueue_clear(memory, offset, bytes);
    }

    pub(crate) fn synchronize(&self) {
        self.queue.synchronize();
    }

    /// Counts the next event and returns its number, from 1 on. Only the stream's holder queues commands, and none
    /// while it records an event.
    pub(crate) fn next_event_number(&self) -> u64 {
        self.events.fetch_add(1, Ordering::AcqRel).saturating_add(1)
    }

    /// Returns the count of events recorded so far. A command queued now has run once a later event has passed.
    pub(crate) fn event_count(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }

    /// Records that the host has waited for event number `event` of this stream.
    pub(crate) fn record_passed_event(&self, event: u64) {
        self.passed.fetch_max(event, Ordering::AcqRel);
    }

    /// Returns whether the host has waited for an event after the first `events` ones. A command queued when that was
    /// the count has then run.
    pub(crate) fn has_passed(&self, events: u64) -> bool {
        self.passed.load(Ordering::Acquire) > events
    }

    /// Makes the next command wait for all commands that `other` has queued. Uses an event, or waits on the host if
    /// the streams are of different devices.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub(crate) fn wait_stream(&self, other: &Self) -> Result<()> {
        if !Arc::ptr_eq(&self.shared, &other.shared) {
            other.synchronize();
            return Ok(());
        }
        // The event gets no number: the other stream's holder may be about to queue a command that it has already
        // recorded.
        let events = other.event_count();
        self.queue.enqueue_wait(&other.queue)?;
        self.record_awaited_event(other, events);
        Ok(())
    }

    /// Records that the queue waits for event number `event` of stream `other`.
    pub(crate) fn record_awaited_event(&self, other: &Self, event: u64) {
        if Arc::ptr_eq(&self.shared, &other.shared) {
            let mut awaited = lock(&self.awaited);
            let last = awaited.entry(other.stream_index()).or_default();
            *last = event.max(*last);
        }
    }

    /// Returns whether the next command is known to run after a command that `other` queued when its event count was
    /// `events`.
    pub(crate) fn is_ordered_after(&self, other: &Self, events: u64) -> bool {
        let same = Arc::ptr_eq(&self.shared, &other.shared);
        other.has_passed(events)
            || (same && lock(&self.awaited).get(&other.stream_index()).is_some_and(|last| *last > events))
    }

    pub(crate) fn release_pinned(&self, pinned: PinnedAlloc) {
        lock(&self.pinned).push(pinned);
    }

    /// Returns pinned host memory of at least `bytes`: an idle block of up to twice the size, or a new one.
    pub(crate) fn acquire_pinned(&self, bytes: usize) -> Result<PinnedAlloc> {
        let mut idle = lock(&self.pinned);
        let fits = |pinned: &PinnedAlloc| pinned.bytes >= bytes && pinned.bytes <= bytes.saturating_mul(2);
        match idle.iter().position(fits) {
            Some(at) => Ok(idle.swap_remove(at)),
            None => self.shared.driver.pinned_allocate(bytes),
        }
    }

    /// Takes pooled memory of fitting size that only this stream used before, for `contents` of this kind. `None` if
    /// there is none.
    pub(crate) fn take_own_block(&self, bytes: usize, contents: Sensitivity) -> Result<Option<(MemoryHandle, Block)>> {
        let found =
            lock(&self.shared.pool).take_exclusive(bytes, self.stream_index(), contents == Sensitivity::Scratch);
        found.map(|free| self.prepare_reused_block(free, contents)).transpose()
    }

    /// Takes `bytes` of any free memory in the pool, or, if blocks cannot be divided, a block of less than twice the
    /// size. `None` if none fits.
    pub(crate) fn take_any_block(&self, bytes: usize, contents: Sensitivity) -> Result<Option<(MemoryHandle, Block)>> {
        let mut pool = lock(&self.shared.pool);
        let found =
            if self.shared.driver.supports_suballocation() { pool.alloc_split(bytes) } else { pool.take_whole(bytes) };
        drop(pool);
        found.map(|free| self.prepare_reused_block(free, contents)).transpose()
    }

    /// Makes commands queued from now on wait for the previous users of `free`. Clears it if it is dirty and
    /// `contents` is not scratch. Returns its handle and place. After an error the memory is back in the pool.
    fn prepare_reused_block(&self, mut free: FreeBlock, contents: Sensitivity) -> Result<(MemoryHandle, Block)> {
        let waited = self.shared.live_queues(&free.users).iter().try_for_each(|user| self.queue.enqueue_wait(user));
        let cleared = waited.and_then(|()| match free.dirty && contents != Sensitivity::Scratch {
            true => self.shared.enqueue_clear(&self.queue, &mut free),
            false => Ok(()),
        });
        match cleared.and_then(|()| self.shared.block_handle(&free.place)) {
            Ok(memory) => Ok((memory, free.place)),
            Err(error) => {
                free.users.push(self.stream_index());
                lock(&self.shared.pool).add_free_block(free);
                Err(error)
            }
        }
    }

    /// Waits until the queue is empty, and records that this stream no longer uses any memory in the pool. Blocks
    /// that no other stream may still use go back to the driver.
    fn release_free_memory(&self) {
        // Locked throughout: if two streams end at once, the second must find what the first leaves to it.
        let mut pool = lock(&self.shared.pool);
        let mut left = pool.take_used_by(self.stream_index());
        // The last stream that may use the memory clears it.
        for free in left.iter_mut().filter(|free| free.dirty && free.is_exclusive_to(self.stream_index())) {
            // A failure means that the device is lost, and its memory with it.
            let _ = self.shared.enqueue_clear(&self.queue, free);
        }
        self.synchronize();
        for mut free in left {
            free.users.retain(|user| *user != self.stream_index());
            pool.add_free_block(free);
        }
        let blocks = pool.take_unused();
        drop(pool);
        self.shared.free_blocks(blocks);
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        self.release_free_memory();
        lock(&self.ring).free_slots(&*self.shared.driver);
        for pinned in lock(&self.pinned).drain(..) {
            // SAFETY: an idle block has no owner, and the stream has run empty.
            unsafe { self.shared.driver.pinned_free(pinned) };
        }
    }
}
