//! A device with its memory cap, its idle streams and its kernels.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::aim::Aim;
use super::cache::Cache;
use super::core::{Contents, StreamCore};
use super::own_process::OwnProcess;
use super::pace::Pace;
use super::pool::Place;
use super::shared::Shared;
use super::specialised::Specialised;
use super::{Buffer, DeviceInfo, Driver, KernelHandle, KernelSource, Mark, MemoryHandle, lock};
use crate::{Error, Result, process};

/// The share of a device's memory that tables may keep: one in so many.
const TABLES_SHARE: u64 = 16;
/// How long an answer about free memory holds.
const FRESH: Duration = Duration::from_millis(50);

/// What a kernel is found by.
fn key(source: KernelSource<'_>, kernel: &str) -> (String, String) {
    (source.module.to_owned(), kernel.to_owned())
}

/// A device of one backend.
pub struct Device {
    pub(super) shared: Arc<Shared>,
    /// By number, lowest first out: who takes the same streams in the same order finds the memory that it had before.
    idle: Mutex<BTreeMap<usize, Arc<StreamCore>>>,
    kernels: Mutex<HashMap<(String, String), KernelHandle>>,
    pub(super) specialised: Specialised,
    tables: Mutex<Cache>,
    /// Where the last kernel ended whose groups wait for each other.
    pub(super) turn: Mutex<Option<Mark>>,
    pub(super) pace: Pace,
    /// When the driver was asked last for its free memory, and that plus what we had allocated.
    answer: Mutex<Option<(Instant, u64)>>,
    /// Launches left until one fails on purpose; negative: never. For tests of fault handling.
    fuse: AtomicI64,
}

impl fmt::Debug for Device {
    /// Its backend, number and name: what it holds would fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        write!(f, "Device({} {}, {})", info.backend, info.ordinal, info.name)
    }
}

impl Device {
    /// Wraps a driver; `limit` caps the bytes that all buffers of the device may take together.
    pub fn new(driver: Box<dyn Driver>, limit: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            shared: Arc::new(Shared::new(Box::new(OwnProcess(driver)), limit)),
            idle: Mutex::default(),
            kernels: Mutex::default(),
            specialised: Specialised::default(),
            tables: Mutex::default(),
            turn: Mutex::default(),
            pace: Pace::default(),
            answer: Mutex::default(),
            fuse: AtomicI64::new(-1),
        })
    }

    /// What the device is.
    pub fn info(&self) -> &DeviceInfo {
        self.shared.driver.info()
    }

    /// Whether the buffer is memory of this device.
    pub fn owns(&self, buffer: &Buffer) -> bool {
        Arc::ptr_eq(&self.shared, buffer.shared())
    }

    /// Whether the device's streams copy from the other one's memory: CUDA's have addresses in common.
    pub(crate) fn reaches(&self, other: &Self) -> bool {
        let [ours, theirs] = [self, other].map(|device| device.info().backend);
        ours == theirs && (ours == super::BackendKind::Cuda || Arc::ptr_eq(&self.shared, &other.shared))
    }

    /// Whether such copies come straight from memory to memory.
    pub(crate) fn is_linked_to(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.shared, &other.shared);
        same || (self.reaches(other) && self.shared.driver.is_linked_to(other.info().ordinal))
    }

    /// Bytes that buffers may take at most: the device's memory, or the cap where that is less.
    pub fn memory(&self) -> u64 {
        self.shared.most()
    }

    /// Bytes that buffers may still take: what the driver has free, bounded by the cap. What is free in the pool
    /// and kept tables count as free, since they are used or given back before an allocation fails.
    ///
    /// # Errors
    /// The driver's call failed.
    pub fn free_memory(&self) -> Result<u64> {
        let pooled = lock(&self.shared.pool).bytes().saturating_add(lock(&self.tables).idle_bytes());
        Ok(self.shared.within_limit(self.driver_free()?.saturating_add(pooled), pooled))
    }

    /// The most bytes that buffers, the pool and tables have taken together, since the process began.
    pub fn peak_memory(&self) -> u64 {
        self.shared.peak()
    }

    /// How many blocks of memory the driver has been asked for, since the process began; what comes out of the pool is
    /// none of them.
    pub fn blocks_asked_for(&self) -> u64 {
        self.shared.asked_for()
    }

    /// Whether free memory is given out in parts of what the driver gave, or as it came.
    pub fn divides_blocks(&self) -> bool {
        self.shared.driver.has_parts()
    }

    /// What the driver has free, from an answer that may be [`FRESH`] old, without what was allocated since:
    /// asking takes as long as a small operation.
    fn driver_free(&self) -> Result<u64> {
        let allocated = || self.shared.allocated();
        let mut answer = lock(&self.answer);
        let free_and_ours = match *answer {
            Some((when, free_and_ours)) if when.elapsed() < FRESH => free_and_ours,
            _ => {
                let fresh = self.shared.driver.free_memory()?.saturating_add(allocated());
                *answer = Some((Instant::now(), fresh));
                fresh
            }
        };
        Ok(free_and_ours.saturating_sub(allocated()))
    }

    /// An idle stream, or a new one.
    pub(super) fn take_core(&self) -> Result<Arc<StreamCore>> {
        process::check()?;
        let idle = lock(&self.idle).pop_first();
        idle.map_or_else(|| StreamCore::new(self.shared.clone()).map(Arc::new), |(_, core)| Ok(core))
    }

    pub(super) fn put_back(&self, core: Arc<StreamCore>) {
        lock(&self.idle).insert(core.number(), core);
    }

    /// A table that is kept between calls, found by `key`, the full description of its contents, or made. `make`
    /// waits until the table is there, since other streams use it too.
    ///
    /// # Errors
    /// What `make` says.
    pub(crate) fn table(&self, key: Vec<u8>, make: impl FnOnce() -> Result<Buffer>) -> Result<Arc<Buffer>> {
        if let Some(table) = lock(&self.tables).find(&key) {
            return Ok(table);
        }
        let table = Arc::new(make()?);
        lock(&self.tables).add(key, table.clone(), self.info().memory / TABLES_SHARE);
        Ok(table)
    }

    /// Has buffers and free memory take so many bytes more than what is in use now, if work does with that.
    pub fn aim(&self, bytes: u64) -> Aim {
        Aim::new(self.shared.clone(), bytes)
    }

    /// Gives tables and all free memory back to the driver.
    pub fn trim(&self) {
        lock(&self.tables).clear();
        self.trim_pool();
    }

    /// Gives all free memory back to the driver, so that what is asked for next finds no block that is half in use.
    pub(crate) fn trim_pool(&self) {
        self.trim_by(u64::MAX);
    }

    /// Gives free blocks of so many bytes together back to the driver, at least one; whether there was one.
    fn trim_by(&self, bytes: u64) -> bool {
        let blocks = lock(&self.shared.pool).take_blocks(bytes);
        let any = !blocks.is_empty();
        self.shared.free(blocks);
        any
    }

    /// Makes the launch after `launches` more fail, once: for tests of what a failure leaves behind.
    #[doc(hidden)]
    pub fn fail_after(&self, launches: u32) {
        self.fuse.store(i64::from(launches), Ordering::SeqCst);
    }

    pub(super) fn burn_fuse(&self, kernel: &str) -> Result<()> {
        if self.fuse.load(Ordering::SeqCst) >= 0 && self.fuse.fetch_sub(1, Ordering::SeqCst) == 0 {
            return Err(Error::device(&self.info().name, kernel, "failure injected by a test"));
        }
        Ok(())
    }

    /// A kernel that was used before.
    pub(super) fn ready_kernel(&self, source: KernelSource<'_>, name: &str) -> Option<KernelHandle> {
        lock(&self.kernels).get(&key(source, name)).copied()
    }

    /// Finds a kernel ahead of its first launch, which does so otherwise: its module is compiled or loaded if need be.
    ///
    /// # Errors
    /// [`Error::NoKernel`], or the module does not compile or load, or is not built in.
    pub fn kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        if let Some(kernel) = self.ready_kernel(source, name) {
            return Ok(kernel);
        }
        let kernel = self.shared.driver.kernel(source, name)?;
        lock(&self.kernels).insert(key(source, name), kernel);
        Ok(kernel)
    }

    /// Memory for a stream that has none that fits: of the driver's within the cap, or else what others had, or else
    /// the driver's again once it has got back as much as is lacking, tables last. Beyond what work aims at, what others had
    /// comes first, and the driver gets back as much as is taken beyond that.
    pub(super) fn allocate(
        &self,
        core: &StreamCore,
        bytes: usize,
        contents: Contents,
    ) -> Result<(MemoryHandle, Place)> {
        if let Some(beyond) = self.shared.beyond_aims(bytes) {
            if let Some(found) = core.carve(bytes, contents)? {
                return Ok(found);
            }
            self.trim_by(beyond);
        }
        loop {
            let error = match self.shared.allocate(bytes) {
                Ok(memory) => return Ok((memory, Place::whole(memory, bytes))),
                Err(error) => error,
            };
            let Error::OutOfMemory { requested, available, .. } = error else { return Err(error) };
            if let Some(found) = core.carve(bytes, contents)? {
                return Ok(found);
            }
            let lacking = requested.saturating_sub(available);
            if !self.trim_by(lacking) && !lock(&self.tables).clear() {
                return Err(error);
            }
        }
    }
}
