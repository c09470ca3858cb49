//! Manages a device's memory cap, idle streams and kernels.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::fork_checked_driver::ForkGuard;
use super::memory::{Block, DeviceAllocator, MemoryBudget, ResidentBytes, TableCache};
use super::stream::{LaunchedShapes, QueueLimiter, Sensitivity, StreamInner};
use super::{Buffer, DeviceInfo, Driver, Event, KernelHandle, KernelSource, MemoryHandle, lock};
use crate::{Error, Result, fork_check};

/// Limits the cached tables of a device to `1/TABLE_CACHE_FRACTION` of its memory.
const TABLE_CACHE_FRACTION: u64 = 16;
/// Time for which the driver's answer about free memory is reused, 50 ms: asking takes as long as a small operation.
const FREE_MEMORY_TTL: Duration = Duration::from_millis(50);

/// Represents a device of one backend. Owns its memory pool, idle streams, compiled kernels and cached tables.
pub struct Device {
    pub(super) shared: Arc<DeviceAllocator>,
    /// Idle streams by their number. The lowest number is taken first. A caller that takes the same streams in the
    /// same order finds its earlier memory in the pool.
    idle: Mutex<BTreeMap<usize, Arc<StreamInner>>>,
    /// Handles of the kernels used so far, by module and name.
    kernels: Mutex<HashMap<String, HashMap<String, KernelHandle>>>,
    pub(super) specialised: LaunchedShapes,
    tables: Mutex<TableCache>,
    /// Event at the end of the last cooperative kernel, if there was one.
    pub(super) turn: Mutex<Option<Event>>,
    pub(super) pace: QueueLimiter,
    /// Time of the driver's last answer about free memory, and the sum of that answer and the bytes allocated at that
    /// time.
    answer: Mutex<Option<(Instant, u64)>>,
    /// Number of launches until one fails on purpose, for tests of fault handling. A negative number means never.
    fuse: AtomicI64,
}

impl fmt::Debug for Device {
    /// Writes only the backend, number and name of the device, because all its fields would fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        write!(f, "Device({} {}, {})", info.backend, info.ordinal, info.name)
    }
}

impl Device {
    /// Creates a device that uses `driver`. `limit` caps the total bytes of all buffers of the device; `None` means
    /// no cap.
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

    /// Returns the description of the device, such as its name and memory size.
    pub fn info(&self) -> &DeviceInfo {
        self.shared.driver.info()
    }

    /// Returns whether `buffer` is in memory of this device.
    pub fn owns(&self, buffer: &Buffer) -> bool {
        Arc::ptr_eq(&self.shared, buffer.allocator())
    }

    /// Returns whether the device's streams can copy from the memory of `other`. This holds for one device, and for any
    /// two of a backend whose devices share an address space.
    pub(crate) fn can_access(&self, other: &Self) -> bool {
        let [ours, theirs] = [self, other].map(Self::info);
        let unified = ours.backend == theirs.backend && ours.caps.unified_addresses;
        unified || Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns whether copies from `other` go directly from its memory to this device's, not through the host. This
    /// holds also within one device.
    pub(crate) fn has_p2p_link(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.shared, &other.shared);
        same || (self.can_access(other) && self.shared.driver.has_p2p_link(other.info().ordinal))
    }

    /// Returns the maximum bytes that all buffers together may take: the device's memory, or the cap if that is less.
    pub fn memory(&self) -> u64 {
        self.shared.capacity_bytes()
    }

    /// Returns the bytes that further buffers may take: the driver's free memory, bounded by the cap. Pooled memory
    /// and unused cached tables count as free, since they are reused or freed before an allocation fails.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver's call failed.
    pub fn free_memory(&self) -> Result<u64> {
        // One lock at a time: buffers that are freed lock the pool.
        let idle = lock(&self.tables).idle_bytes();
        let pooled = lock(&self.shared.pool).free_bytes().saturating_add(idle);
        Ok(self.shared.remaining_under_cap(self.query_free_bytes()?.saturating_add(pooled), pooled))
    }

    /// Returns the bytes that neither buffers take nor memory budgets set aside: [`Self::free_memory`] without the
    /// bytes of budgets that their owners have not taken yet. Memory of work without a budget that began after the
    /// first current budget counts as taken from the budgets.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver's call failed.
    pub fn unreserved_memory(&self) -> Result<u64> {
        let idle = lock(&self.tables).idle_bytes();
        let all = self.query_usable_bytes()?.min(self.shared.limit_bytes());
        Ok(all.saturating_sub(self.shared.spoken_for_bytes(idle)))
    }

    /// Reserves memory for work that can do with less. `choose` gets [`Self::unreserved_memory`], and whether the
    /// device has a budget already. It returns its choice and the bytes that the choice takes, or `None` to reserve
    /// nothing. Returns the choice and a budget of these bytes. Of several callers at once, each sees what the others
    /// have reserved. `choose` must return soon, since other callers wait for it, and must neither reserve memory nor
    /// drop a budget.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver's call failed.
    pub fn reserve_memory<T>(
        &self,
        choose: impl FnOnce(u64, bool) -> Option<(T, u64)>,
    ) -> Result<Option<(T, MemoryBudget)>> {
        let _turn = lock(&self.shared.reserving);
        let others = lock(&self.shared.aims).target_bytes().is_some();
        let chosen = choose(self.unreserved_memory()?, others);
        Ok(chosen.map(|(choice, bytes)| (choice, self.set_memory_budget(bytes))))
    }

    /// Returns the number of memory budgets that have ended.
    pub(crate) fn ended_budget_count(&self) -> u64 {
        self.shared.ended_budgets.load(Ordering::Relaxed)
    }

    /// Waits until more than `ended` memory budgets have ended, for `timeout` at most. Returns their number.
    pub(crate) fn wait_for_budget_end(&self, ended: u64, timeout: Duration) -> u64 {
        self.shared.wait_for_budget_end(ended, timeout)
    }

    /// Marks `bytes` in use as data that stays on the device until the result is dropped. Budgets do not count them.
    pub(crate) fn mark_resident(&self, bytes: u64) -> ResidentBytes {
        ResidentBytes::new(self.shared.clone(), bytes)
    }

    /// Returns the maximum bytes that buffers, pooled free memory and cached tables have taken together since the
    /// process began.
    pub fn peak_memory(&self) -> u64 {
        self.shared.peak_bytes()
    }

    /// Returns the number of allocations that the driver was asked for since the process began. Memory that is reused
    /// from the pool does not count.
    pub fn driver_alloc_count(&self) -> u64 {
        self.shared.driver_alloc_count()
    }

    /// Returns whether the pool may divide the driver's blocks. If not, it reuses whole blocks only.
    pub fn supports_suballocation(&self) -> bool {
        self.shared.driver.supports_suballocation()
    }

    /// Returns the driver's free memory in bytes.
    fn query_free_bytes(&self) -> Result<u64> {
        Ok(self.query_usable_bytes()?.saturating_sub(self.shared.allocated_bytes()))
    }

    /// Returns the bytes that the driver has free or that are allocated here. Reuses an answer that is less than
    /// [`FREE_MEMORY_TTL`] old, because asking takes as long as a small operation.
    fn query_usable_bytes(&self) -> Result<u64> {
        let mut answer = lock(&self.answer);
        match *answer {
            Some((when, usable)) if when.elapsed() < FREE_MEMORY_TTL => Ok(usable),
            _ => {
                let usable = self.shared.driver.free_memory()?.saturating_add(self.shared.allocated_bytes());
                *answer = Some((Instant::now(), usable));
                Ok(usable)
            }
        }
    }

    /// Takes an idle stream, or creates one if none is idle.
    pub(super) fn acquire_stream(&self) -> Result<Arc<StreamInner>> {
        fork_check::check()?;
        let idle = lock(&self.idle).pop_first();
        idle.map_or_else(|| StreamInner::new(self.shared.clone()).map(Arc::new), |(_, core)| Ok(core))
    }

    pub(super) fn release_stream(&self, core: Arc<StreamInner>) {
        lock(&self.idle).insert(core.stream_index(), core);
    }

    /// Returns the cached table for `key`, the full description of the table's contents. If there is none, calls
    /// `make` and caches the result. `make` must wait until the table is written, since other streams use it too.
    ///
    /// # Errors
    /// - `make` failed; its error is returned.
    pub(crate) fn get_or_create_table(
        &self,
        key: Vec<u8>,
        make: impl FnOnce() -> Result<Buffer>,
    ) -> Result<Arc<Buffer>> {
        if let Some(table) = lock(&self.tables).find(&key) {
            return Ok(table);
        }
        let table = Arc::new(make()?);
        let evicted = lock(&self.tables).add(key, table.clone(), self.info().memory / TABLE_CACHE_FRACTION);
        drop(evicted);
        Ok(table)
    }

    /// Sets a soft budget of `bytes` above current usage, for buffers and pooled free memory together. The budget
    /// ends when the result is dropped.
    pub fn set_memory_budget(&self, bytes: u64) -> MemoryBudget {
        MemoryBudget::new(self.shared.clone(), bytes)
    }

    /// Drops all cached tables, and gives all unused memory of the pool back to the driver.
    pub fn trim(&self) {
        self.drop_tables();
        self.trim_pool();
    }

    /// Drops all cached tables, and returns whether there were any.
    fn drop_tables(&self) -> bool {
        // The lock ends before the buffers are freed, which lock the pool.
        let tables = lock(&self.tables).take_all();
        !tables.is_empty()
    }

    /// Gives all wholly unused blocks of the pool back to the driver, whichever stream used them.
    pub(crate) fn trim_pool(&self) {
        self.trim_pool_bytes(u64::MAX);
    }

    /// Gives all wholly unused blocks of the pool back to the driver if they are most of the free memory. Otherwise the
    /// next work would divide them for buffers of other sizes, and find no room for large ones. Waits for the streams
    /// that used the blocks.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver's call failed.
    pub(crate) fn trim_pool_if_short(&self) -> Result<()> {
        let pooled = lock(&self.shared.pool).whole_block_bytes();
        if pooled > self.free_memory()? / 2 {
            self.trim_pool();
        }
        Ok(())
    }

    /// Gives the largest free blocks back to the driver until these have `bytes` in total. Returns false if there was
    /// no free block.
    fn trim_pool_bytes(&self, bytes: u64) -> bool {
        let blocks = lock(&self.shared.pool).take_largest_blocks(bytes);
        let any = !blocks.is_empty();
        self.shared.free_blocks(blocks);
        any
    }

    /// Makes one kernel launch fail, after `launches` further launches have succeeded. Tests use it to check the
    /// state that a failure leaves behind.
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

    /// Returns the kernel `name` of `source` if it was used before, else `None`.
    pub(super) fn cached_kernel(&self, source: KernelSource<'_>, name: &str) -> Option<KernelHandle> {
        lock(&self.kernels).get(source.module)?.get(name).copied()
    }

    /// Returns the kernel `name` of `source`, compiling or loading its module if necessary. The call is optional:
    /// otherwise the kernel's first launch does so.
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
        let kernel = self.shared.driver.load_kernel(source, name)?;
        lock(&self.kernels).entry(source.module.to_owned()).or_default().insert(name.to_owned(), kernel);
        Ok(kernel)
    }

    /// Allocates `bytes` for stream `core`, whose own free memory has no block that fits. Tries, in order:
    /// 1. the driver, under the cap;
    /// 2. any free memory of the pool;
    /// 3. both again, after the pool gave as many bytes as are missing back to the driver;
    /// 4. both again, after cached tables were dropped.
    ///
    /// If the allocation exceeds the memory budget, the pool comes first. If that fails, the excess goes back to the
    /// driver before the driver is asked.
    pub(super) fn allocate(
        &self,
        core: &StreamInner,
        bytes: usize,
        contents: Sensitivity,
    ) -> Result<(MemoryHandle, Block)> {
        if let Some(beyond) = self.shared.bytes_over_budget(bytes) {
            if let Some(found) = core.take_any_block(bytes, contents)? {
                return Ok(found);
            }
            self.trim_pool_bytes(beyond);
        }
        loop {
            let error = match self.shared.allocate(bytes) {
                Ok(memory) => return Ok((memory, Block::whole_block(memory, bytes))),
                Err(error) => error,
            };
            let Error::OutOfMemory { requested, available, .. } = error else { return Err(error) };
            if let Some(found) = core.take_any_block(bytes, contents)? {
                return Ok(found);
            }
            let lacking = requested.saturating_sub(available);
            if !self.trim_pool_bytes(lacking) && !self.drop_tables() {
                return Err(error);
            }
        }
    }
}
