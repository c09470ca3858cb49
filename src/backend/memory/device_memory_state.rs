//! A device's driver and memory, which streams and their buffers keep alive.
#![warn(clippy::arithmetic_side_effects)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::budget_totals::{BudgetTotals, bytes_over_budget};
use super::pool::{Block, FreeBlock, FreeList};
use crate::backend::stream::Queue;
use crate::backend::{Driver, MemoryHandle, lock};
use crate::{Error, Result};

/// Holds a device's driver, the count of bytes allocated from it, and the pool of free memory among these bytes.
#[derive(Debug)]
pub(crate) struct DeviceAllocator {
    pub(crate) driver: Arc<dyn Driver>,
    /// Maximum total bytes of the driver's allocations; `None` if there is no cap.
    limit: Option<u64>,
    allocated: AtomicU64,
    /// Maximum of `allocated` so far, in bytes.
    peak: AtomicU64,
    /// Number of allocations that the driver was asked for so far.
    driver_alloc_count: AtomicU64,
    pub(crate) pool: Mutex<FreeList>,
    pub(crate) aims: Mutex<BudgetTotals>,
    /// Held while work chooses how much memory to reserve, so that no two of them count on the same bytes.
    pub(crate) reserving: Mutex<()>,
    /// Notified when a memory budget ends.
    pub(crate) budget_ended: Condvar,
    /// Number of memory budgets that have ended. It grows under [`Self::reserving`].
    pub(crate) ended_budgets: AtomicU64,
    /// Command queues of all streams, idle or not, indexed by queue number.
    queues: Mutex<Vec<Weak<Queue>>>,
}

impl DeviceAllocator {
    pub(crate) fn new(driver: Box<dyn Driver>, limit: Option<u64>) -> Self {
        let [allocated, peak, asked_for] = [(); 3].map(|()| AtomicU64::new(0));
        let (pool, aims, queues) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (driver, reserving, budget_ended) = (driver.into(), Mutex::default(), Condvar::new());
        let (driver_alloc_count, ended_budgets) = (asked_for, AtomicU64::new(0));
        Self {
            driver,
            limit,
            allocated,
            peak,
            driver_alloc_count,
            pool,
            aims,
            reserving,
            budget_ended,
            ended_budgets,
            queues,
        }
    }

    /// Creates a command queue with the next number.
    pub(crate) fn new_queue(&self) -> Result<Arc<Queue>> {
        let mut queues = lock(&self.queues);
        let queue = Arc::new(Queue::new(self.driver.clone(), queues.len())?);
        queues.push(Arc::downgrade(&queue));
        Ok(queue)
    }

    /// Returns the queues with the given `numbers`, without those that no longer exist.
    pub(crate) fn live_queues(&self, numbers: &[usize]) -> Vec<Arc<Queue>> {
        let queues = lock(&self.queues);
        numbers.iter().filter_map(|number| queues.get(*number)?.upgrade()).collect()
    }

    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.allocated.load(Ordering::SeqCst)
    }

    /// Returns the bytes of all buffers: those allocated, without the pool's free ones.
    pub(crate) fn in_use_bytes(&self) -> u64 {
        self.allocated_bytes().saturating_sub(lock(&self.pool).free_bytes())
    }

    /// Returns the bytes that are taken, or that memory budgets set aside. `idle` bytes of cached tables count as free.
    pub(crate) fn spoken_for_bytes(&self, idle: u64) -> u64 {
        let in_use = self.in_use_bytes().saturating_sub(idle);
        lock(&self.aims).spoken_for_bytes(in_use)
    }

    /// Waits until more than `ended` memory budgets have ended, for `timeout` at most. Returns their number.
    pub(crate) fn wait_for_budget_end(&self, ended: u64, timeout: Duration) -> u64 {
        let none_ended = |(): &mut ()| self.ended_budgets.load(Ordering::Relaxed) == ended;
        let turn = lock(&self.reserving);
        drop(self.budget_ended.wait_timeout_while(turn, timeout, none_ended).unwrap_or_else(PoisonError::into_inner));
        self.ended_budgets.load(Ordering::Relaxed)
    }

    pub(crate) fn peak_bytes(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    pub(crate) fn driver_alloc_count(&self) -> u64 {
        self.driver_alloc_count.load(Ordering::Relaxed)
    }

    /// Returns the device's memory in bytes, or the cap if that is less.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        let memory = self.driver.info().memory;
        self.limit.map_or(memory, |limit| limit.min(memory))
    }

    /// Returns the cap in bytes, or `u64::MAX` without one.
    pub(crate) fn limit_bytes(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX)
    }

    /// Returns how many of `free` bytes the cap still allows to allocate. It counts `pooled` bytes of the allocated
    /// ones as free.
    pub(crate) fn remaining_under_cap(&self, free: u64, pooled: u64) -> u64 {
        self.limit.map_or(free, |limit| limit.saturating_add(pooled).saturating_sub(self.allocated_bytes()).min(free))
    }

    /// Allocates a block of `bytes` from the driver, if the cap allows it.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        self.charge_bytes(bytes)?;
        self.driver_alloc_count.fetch_add(1, Ordering::Relaxed);
        let result = self.driver.memory_allocate(bytes);
        if result.is_err() {
            self.uncharge_bytes(bytes);
        }
        result
    }

    /// Waits until no stream uses `blocks` any more, clears the dirty ones, and gives all of them back to the driver.
    pub(crate) fn free_blocks(&self, mut blocks: Vec<FreeBlock>) {
        let mut users: Vec<usize> = blocks.iter().flat_map(|free| &free.users).copied().collect();
        users.sort_unstable();
        users.dedup();
        let users = self.live_queues(&users);
        for user in &users {
            user.synchronize();
        }
        if let Some(user) = users.first() {
            let dirty = blocks.iter_mut().filter(|free| free.dirty);
            // A failure means that the device is lost, and its memory with it.
            dirty.for_each(|free| drop(self.enqueue_clear(user, free)));
            user.synchronize();
        }
        for FreeBlock { place, .. } in blocks {
            // SAFETY: the block has no owner, and the streams that had it have run empty.
            unsafe { self.driver.memory_free(place.memory) };
            self.uncharge_bytes(place.memory_bytes);
        }
    }

    /// Returns by how many bytes a new block of `bytes` would exceed the memory budgets. `None` if it would not
    /// exceed them.
    pub(crate) fn bytes_over_budget(&self, bytes: usize) -> Option<u64> {
        bytes_over_budget(&self.aims, self.allocated_bytes(), bytes)
    }

    /// Returns the driver's handle of the memory `place`, which the caller has taken from the pool. A part of a block
    /// gets a handle of its own.
    pub(crate) fn block_handle(&self, place: &Block) -> Result<MemoryHandle> {
        if place.is_whole() {
            return Ok(place.memory);
        }
        // SAFETY: the block is live, and the pool gives each part to one owner.
        unsafe { self.driver.sub_buffer(place.memory, place.offset, place.bytes) }
    }

    /// Queues a command on `queue` that writes zeros over `free`, and marks it as clean.
    pub(crate) fn enqueue_clear(&self, queue: &Queue, free: &mut FreeBlock) -> Result<()> {
        let memory = self.block_handle(&free.place)?;
        queue.enqueue_clear(memory, 0, free.place.bytes);
        free.dirty = false;
        Ok(())
    }

    /// Adds `bytes` to the count of allocated bytes, or returns an error if that would exceed the cap.
    pub(crate) fn charge_bytes(&self, bytes: usize) -> Result<()> {
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

    /// Subtracts `bytes` from the count of allocated bytes.
    pub(crate) fn uncharge_bytes(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes as u64, Ordering::SeqCst);
    }
}
