//! A device's driver and memory: what streams and their buffers need to the last.
#![warn(clippy::arithmetic_side_effects)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::aims::{Aims, beyond};
use super::pool::{Free, Place, Pool};
use super::queue::Queue;
use super::{Driver, MemoryHandle, lock};
use crate::{Error, Result};

/// The driver, the count of what it gave out, and what is free of that.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) driver: Arc<dyn Driver>,
    /// Caps what the driver gives.
    limit: Option<u64>,
    allocated: AtomicU64,
    /// The most that `allocated` has been.
    peak: AtomicU64,
    /// Blocks that the driver was asked for.
    asked_for: AtomicU64,
    pub(super) pool: Mutex<Pool>,
    pub(super) aims: Mutex<Aims>,
    /// Those of all streams, idle or not.
    queues: Mutex<Vec<Weak<Queue>>>,
}

impl Shared {
    pub(super) fn new(driver: Box<dyn Driver>, limit: Option<u64>) -> Self {
        let [allocated, peak, asked_for] = [(); 3].map(|()| AtomicU64::new(0));
        let (pool, aims, queues) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { driver: driver.into(), limit, allocated, peak, asked_for, pool, aims, queues }
    }

    /// A new queue.
    pub(super) fn new_queue(&self) -> Result<Arc<Queue>> {
        let mut queues = lock(&self.queues);
        let queue = Arc::new(Queue::new(self.driver.clone(), queues.len())?);
        queues.push(Arc::downgrade(&queue));
        Ok(queue)
    }

    /// Those of some queues that there still are.
    pub(super) fn queues(&self, numbers: &[usize]) -> Vec<Arc<Queue>> {
        let queues = lock(&self.queues);
        numbers.iter().filter_map(|number| queues.get(*number)?.upgrade()).collect()
    }

    pub(super) fn allocated(&self) -> u64 {
        self.allocated.load(Ordering::SeqCst)
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    pub(super) fn asked_for(&self) -> u64 {
        self.asked_for.load(Ordering::Relaxed)
    }

    /// The device's memory, or the cap where that is less.
    pub(super) fn most(&self) -> u64 {
        let memory = self.driver.info().memory;
        self.limit.map_or(memory, |limit| limit.min(memory))
    }

    /// What the cap leaves of so many bytes that are free and so many that are in pools.
    pub(super) fn within_limit(&self, free: u64, pooled: u64) -> u64 {
        self.limit.map_or(free, |limit| limit.saturating_add(pooled).saturating_sub(self.allocated()).min(free))
    }

    /// A block of the driver's within the cap.
    pub(super) fn allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        self.count(bytes)?;
        self.asked_for.fetch_add(1, Ordering::Relaxed);
        let result = self.driver.memory_allocate(bytes);
        if result.is_err() {
            self.uncount(bytes);
        }
        result
    }

    /// Gives free blocks back to the driver, once the streams that may still use them have run empty.
    pub(super) fn free(&self, mut blocks: Vec<Free>) {
        let mut users: Vec<usize> = blocks.iter().flat_map(|free| &free.users).copied().collect();
        users.sort_unstable();
        users.dedup();
        let users = self.queues(&users);
        for user in &users {
            user.synchronize();
        }
        if let Some(user) = users.first() {
            let dirty = blocks.iter_mut().filter(|free| free.dirty);
            // A failure means that the device is lost, and its memory with it.
            dirty.for_each(|free| drop(self.clear(user, free)));
            user.synchronize();
        }
        for Free { place, .. } in blocks {
            // SAFETY: nobody owns the block, and the streams that had it have run empty.
            unsafe { self.driver.memory_free(place.block) };
            self.uncount(place.block_bytes);
        }
    }

    /// What a block of so many bytes would take beyond what work aims at, if it does.
    pub(super) fn beyond_aims(&self, bytes: usize) -> Option<u64> {
        beyond(&self.aims, self.allocated(), bytes)
    }

    /// A handle of memory that the caller has taken.
    pub(super) fn handle(&self, place: &Place) -> Result<MemoryHandle> {
        if place.is_whole() {
            return Ok(place.block);
        }
        // SAFETY: the block is live, and the pool gives each part to one owner.
        unsafe { self.driver.memory_part(place.block, place.offset, place.bytes) }
    }

    /// Queues zeros over what is free and has to be cleared.
    pub(super) fn clear(&self, queue: &Queue, free: &mut Free) -> Result<()> {
        let memory = self.handle(&free.place)?;
        queue.clear_range(memory, 0, free.place.bytes);
        free.dirty = false;
        Ok(())
    }

    /// Counts so many bytes more as allocated, if the cap lets it.
    pub(super) fn count(&self, bytes: usize) -> Result<()> {
        let requested = bytes as u64;
        let limit = self.limit.unwrap_or(u64::MAX);
        let more = |before: u64| before.checked_add(requested).filter(|after| *after <= limit);
        match self.allocated.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more) {
            Ok(before) => {
                self.peak.fetch_max(before.saturating_add(requested), Ordering::Relaxed);
                Ok(())
            }
            Err(before) => {
                let (device, available) = (self.driver.info().name.clone(), limit.saturating_sub(before));
                Err(Error::OutOfMemory { device, requested, available })
            }
        }
    }

    /// Counts so many bytes as allocated no more.
    pub(super) fn uncount(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes as u64, Ordering::SeqCst);
    }
}
