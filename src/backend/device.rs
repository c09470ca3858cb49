//! Manages a device's memory cap, idle streams and kernels.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::allocator::DeviceAllocator;
use super::first_launch_lock::LaunchedShapes;
use super::fork_guard::ForkGuard;
use super::memory_budget::MemoryBudget;
use super::pool::Block;
use super::queued_time_limit::QueueLimiter;
use super::stream_inner::{Sensitivity, StreamInner};
use super::table_cache::TableCache;
use super::{Buffer, DeviceInfo, Driver, Event, KernelHandle, KernelSource, MemoryHandle, lock};
use crate::{Error, Result, fork_check};

/// Limits cached tables to `1/TABLE_CACHE_FRACTION` of device memory.
const TABLE_CACHE_FRACTION: u64 = 16;
/// Time for which an answer about free memory holds, 50 ms.
const FREE_MEMORY_TTL: Duration = Duration::from_millis(50);

/// Returns the key that finds a kernel.
fn key(source: KernelSource<'_>, kernel: &str) -> (String, String) {
    (source.module.to_owned(), kernel.to_owned())
}

/// Represents a device of one backend.
pub struct Device {
    pub(super) shared: Arc<DeviceAllocator>,
    /// Idle streams by number, taken from the lowest. A caller that takes the same streams in the same order finds its
    /// earlier memory.
    idle: Mutex<BTreeMap<usize, Arc<StreamInner>>>,
    kernels: Mutex<HashMap<(String, String), KernelHandle>>,
    pub(super) specialised: LaunchedShapes,
    tables: Mutex<TableCache>,
    /// End of the last cooperative kernel.
    pub(super) turn: Mutex<Option<Event>>,
    pub(super) pace: QueueLimiter,
    /// Time of the driver's last answer about free memory, and that answer plus our allocations at that time.
    answer: Mutex<Option<(Instant, u64)>>,
    /// Launches until one fails on purpose, for tests of fault handling; negative: never.
    fuse: AtomicI64,
}

impl fmt::Debug for Device {
    /// Writes only the backend, number and name: the contents would fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        write!(f, "Device({} {}, {})", info.backend, info.ordinal, info.name)
    }
}

impl Device {
    /// Wraps a driver; `limit` caps the total bytes of all buffers of the device.
    pub fn new(driver: Box<dyn Driver>, limit: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::new(DeviceAllocator::new(Box::new(ForkGuard(driver)), limit)),
            idle: Mutex::default(),
            kernels: Mutex::default(),
            specialised: LaunchedShapes::default(),
            tables: Mutex::default(),
            turn: Mutex::default(),
            pace: QueueLimiter::default(),
            answer: Mutex::default(),
            fuse: AtomicI64::new(-1),
        })
    }

    /// Returns the description of the device.
    pub fn info(&self) -> &DeviceInfo {
        self.shared.driver.info()
    }

    /// Returns whether the buffer is memory of this device.
    pub fn owns(&self, buffer: &Buffer) -> bool {
        Arc::ptr_eq(&self.shared, buffer.shared())
    }

    /// Returns whether the device's streams can copy from the memory of `other`: CUDA's devices share addresses.
    pub(crate) fn can_access(&self, other: &Self) -> bool {
        let [ours, theirs] = [self, other].map(|device| device.info().backend);
        ours == theirs && (ours == super::BackendKind::Cuda || Arc::ptr_eq(&self.shared, &other.shared))
    }

    /// Returns whether copies from `other` go directly from memory to memory.
    pub(crate) fn has_p2p_link(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.shared, &other.shared);
        same || (self.can_access(other) && self.shared.driver.is_linked_to(other.info().ordinal))
    }

    /// Returns the maximum bytes that buffers may take: the device's memory, or the cap if that is less.
    pub fn memory(&self) -> u64 {
        self.shared.capacity()
    }

    /// Returns the bytes that buffers may still take: the driver's free memory, bounded by the cap. Free memory in the
    /// pool and idle tables count as free, since they are used or given back before an allocation fails.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver's call failed.
    pub fn free_memory(&self) -> Result<u64> {
        let pooled = lock(&self.shared.pool).bytes().saturating_add(lock(&self.tables).idle_bytes());
        Ok(self.shared.remaining_under_cap(self.driver_free()?.saturating_add(pooled), pooled))
    }

    /// Returns the maximum bytes that buffers, the pool and tables have taken together since the process began.
    pub fn peak_memory(&self) -> u64 {
        self.shared.peak()
    }

    /// Returns the number of blocks that the driver has been asked for since the process began. Blocks from the pool do
    /// not count.
    pub fn driver_alloc_count(&self) -> u64 {
        self.shared.driver_alloc_count()
    }

    /// Returns whether free memory is given out in parts of the driver's blocks, or in whole blocks only.
    pub fn supports_suballocation(&self) -> bool {
        self.shared.driver.supports_suballocation()
    }

    /// Returns the driver's free memory, from an answer that may be [`FREE_MEMORY_TTL`] old, less later allocations: asking takes
    /// as long as a small operation.
    fn driver_free(&self) -> Result<u64> {
        let allocated = || self.shared.allocated();
        let mut answer = lock(&self.answer);
        let free_and_ours = match *answer {
            Some((when, free_and_ours)) if when.elapsed() < FREE_MEMORY_TTL => free_and_ours,
            _ => {
                let fresh = self.shared.driver.free_memory()?.saturating_add(allocated());
                *answer = Some((Instant::now(), fresh));
                fresh
            }
        };
        Ok(free_and_ours.saturating_sub(allocated()))
    }

    /// Takes an idle stream, or creates one.
    pub(super) fn acquire_stream(&self) -> Result<Arc<StreamInner>> {
        fork_check::check()?;
        let idle = lock(&self.idle).pop_first();
        idle.map_or_else(|| StreamInner::new(self.shared.clone()).map(Arc::new), |(_, core)| Ok(core))
    }

    pub(super) fn release_stream(&self, core: Arc<StreamInner>) {
        lock(&self.idle).insert(core.number(), core);
    }

    /// Returns the table with this `key`, the full description of its contents, from the cache or else from `make`.
    /// `make` must wait until the table is written, since other streams use it too.
    ///
    /// # Errors
    /// - `make` failed; its error is returned.
    pub(crate) fn table(&self, key: Vec<u8>, make: impl FnOnce() -> Result<Buffer>) -> Result<Arc<Buffer>> {
        if let Some(table) = lock(&self.tables).find(&key) {
            return Ok(table);
        }
        let table = Arc::new(make()?);
        lock(&self.tables).add(key, table.clone(), self.info().memory / TABLE_CACHE_FRACTION);
        Ok(table)
    }

    /// Sets a soft budget of `bytes` above current usage for buffers and free memory, until the result is dropped.
    pub fn set_memory_budget(&self, bytes: u64) -> MemoryBudget {
        MemoryBudget::new(self.shared.clone(), bytes)
    }

    /// Gives cached tables and all free memory back to the driver.
    pub fn trim(&self) {
        lock(&self.tables).clear();
        self.trim_pool();
    }

    /// Gives all free memory back to the driver, so that later allocations find no block that is partly in use.
    pub(crate) fn trim_pool(&self) {
        self.trim_at_least(u64::MAX);
    }

    /// Gives free blocks of `bytes` in total back to the driver, at least one, and returns whether there was one.
    fn trim_at_least(&self, bytes: u64) -> bool {
        let blocks = lock(&self.shared.pool).take_blocks(bytes);
        let any = !blocks.is_empty();
        self.shared.free(blocks);
        any
    }

    /// Makes one launch fail, after `launches` more: tests check the state that a failure leaves behind.
    #[doc(hidden)]
    pub fn inject_launch_fault(&self, launches: u32) {
        self.fuse.store(i64::from(launches), Ordering::SeqCst);
    }

    pub(super) fn check_injected_fault(&self, kernel: &str) -> Result<()> {
        if self.fuse.load(Ordering::SeqCst) >= 0 && self.fuse.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(Error::device(&self.info().name, kernel, "failure injected by a test"));
        }
        Ok(())
    }

    /// Returns a kernel that was used before.
    pub(super) fn cached_kernel(&self, source: KernelSource<'_>, name: &str) -> Option<KernelHandle> {
        lock(&self.kernels).get(&key(source, name)).copied()
    }

    /// Finds a kernel before its first launch, and compiles or loads its module if necessary. Otherwise the first
    /// launch does so.
    ///
    /// # Errors
    /// - [`Error::NoKernel`]: the module has no kernel of that name.
    /// - [`Error::Invalid`]: on OpenCL, the name contains a zero byte.
    /// - [`Error::Device`]: the module does not compile or load.
    /// - [`Error::Device`]: on CUDA, the module is not built in.
    pub fn kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        if let Some(kernel) = self.cached_kernel(source, name) {
            return Ok(kernel);
        }
        let kernel = self.shared.driver.kernel(source, name)?;
        lock(&self.kernels).insert(key(source, name), kernel);
        Ok(kernel)
    }

    /// Allocates memory if the stream's own free memory has no fitting block. Tries, in order:
    /// 1. the driver, under the cap;
    /// 2. any free memory of the pool;
    /// 3. both again, after the missing bytes of the pool went back to the driver;
    /// 4. both again, after cached tables were dropped.
    ///
    /// Over the memory budget, the pool comes first, and the driver gets back the excess before it is asked.
    pub(super) fn allocate(
        &self,
        core: &StreamInner,
        bytes: usize,
        contents: Sensitivity,
    ) -> Result<(MemoryHandle, Block)> {
        if let Some(beyond) = self.shared.bytes_over_budget(bytes) {
            if let Some(found) = core.carve(bytes, contents)? {
                return Ok(found);
            }
            self.trim_at_least(beyond);
        }
        loop {
            let error = match self.shared.allocate(bytes) {
                Ok(memory) => return Ok((memory, Block::whole_block(memory, bytes))),
                Err(error) => error,
            };
            let Error::OutOfMemory { requested, available, .. } = error else { return Err(error) };
            if let Some(found) = core.carve(bytes, contents)? {
                return Ok(found);
            }
            let lacking = requested.saturating_sub(available);
            if !self.trim_at_least(lacking) && !lock(&self.tables).clear() {
                return Err(error);
            }
        }
    }
}
