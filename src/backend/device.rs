//! A device with its memory cap, its idle streams and its kernels.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::cache::Cache;
use super::core::StreamCore;
use super::pace::{Pace, Turn};
use super::{Abort, Buffer, DeviceInfo, Driver, KernelHandle, KernelSource, Mark, MemoryHandle, Stream};
use crate::{Error, Result};

/// Locks without caring whether another thread panicked: every value under these locks is valid at
/// each point where a panic could happen.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver and the count of what it gave out: what streams and their buffers need to the last.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) driver: Box<dyn Driver>,
    allocated: AtomicU64,
    /// The most that `allocated` has been.
    peak: AtomicU64,
}

impl Shared {
    /// # Safety
    /// No queued command uses the memory any more.
    pub(super) unsafe fn free(&self, memory: MemoryHandle, bytes: usize) {
        // SAFETY: passed on from the caller.
        unsafe { self.driver.memory_free(memory) };
        self.uncount(bytes);
    }

    /// Counts so many bytes as allocated no more.
    pub(super) fn uncount(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes as u64, Ordering::SeqCst);
    }
}

/// The share of a device's memory that tables may keep: one in so many.
const TABLES_SHARE: u64 = 16;
/// How long an answer about free memory holds.
const FRESH: Duration = Duration::from_millis(50);

/// A device of one backend.
pub struct Device {
    pub(super) shared: Arc<Shared>,
    limit: Option<u64>,
    /// By number, lowest first out: who takes the same streams in the same order finds the blocks in their
    /// pools that it had before.
    idle: Mutex<BTreeMap<usize, Arc<StreamCore>>>,
    streams_made: AtomicUsize,
    /// All streams, idle or not.
    streams: Mutex<Vec<Weak<StreamCore>>>,
    kernels: Mutex<HashMap<(String, String), KernelHandle>>,
    tables: Mutex<Cache>,
    /// Where the last kernel ended whose groups wait for each other.
    pub(super) turn: Mutex<Option<Mark>>,
    pace: Pace,
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
            shared: Arc::new(Shared { driver, allocated: AtomicU64::new(0), peak: AtomicU64::new(0) }),
            limit,
            idle: Mutex::default(),
            streams_made: AtomicUsize::new(0),
            streams: Mutex::default(),
            kernels: Mutex::default(),
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

    /// Bytes that buffers may still take: what the driver has free, bounded by the cap. Idle pooled
    /// memory and kept tables count as free, since it is given back before an allocation fails.
    ///
    /// # Errors
    /// The driver's call failed.
    pub fn free_memory(&self) -> Result<u64> {
        let pooled: u64 = lock(&self.idle).values().map(|stream| stream.pooled_bytes()).sum();
        let pooled = pooled + lock(&self.tables).idle_bytes();
        let free = self.driver_free()? + pooled;
        let left =
            self.limit.map(|limit| (limit + pooled).saturating_sub(self.shared.allocated.load(Ordering::Relaxed)));
        Ok(left.map_or(free, |left| left.min(free)))
    }

    /// The most bytes that buffers, pools and tables have taken together, since the process began.
    pub fn peak_memory(&self) -> u64 {
        self.shared.peak.load(Ordering::Relaxed)
    }

    /// What the driver has free, from an answer that may be [`FRESH`] old, without what was allocated since:
    /// asking takes as long as a small operation.
    fn driver_free(&self) -> Result<u64> {
        let allocated = || self.shared.allocated.load(Ordering::SeqCst);
        let mut answer = lock(&self.answer);
        let free_and_ours = match *answer {
            Some((when, free_and_ours)) if when.elapsed() < FRESH => free_and_ours,
            _ => {
                let fresh = self.shared.driver.free_memory()? + allocated();
                *answer = Some((Instant::now(), fresh));
                fresh
            }
        };
        Ok(free_and_ours.saturating_sub(allocated()))
    }

    /// Takes a stream for the caller's sole use, an idle one if there is one.
    ///
    /// # Errors
    /// The driver's call failed.
    pub fn stream(self: &Arc<Self>) -> Result<Stream> {
        let idle = lock(&self.idle).pop_first();
        if let Some((_, core)) = idle {
            return Ok(Stream::new(self.clone(), core));
        }
        let number = self.streams_made.fetch_add(1, Ordering::Relaxed);
        let core = Arc::new(StreamCore::new(self.shared.clone(), number)?);
        lock(&self.streams).push(Arc::downgrade(&core));
        Ok(Stream::new(self.clone(), core))
    }

    pub(super) fn put_back(&self, core: Arc<StreamCore>) {
        lock(&self.idle).insert(core.number(), core);
    }

    /// A turn to queue work of so long on one of its streams, where somebody may abort: after as much of what was queued
    /// before as an abort must not wait for.
    ///
    /// # Errors
    /// The hook aborted, or the driver failed.
    pub(crate) fn pace(&self, stream: &Stream, time: Duration, abort: Abort<'_>) -> Result<Option<Turn<'_>>> {
        self.pace.turn(stream, time, abort)
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

    /// Gives the memory of tables and idle streams back to the driver.
    pub fn trim(&self) {
        lock(&self.tables).clear();
        let idle = lock(&self.idle);
        idle.values().for_each(|stream| stream.trim());
    }

    /// Gives tables and what is free in the pools of all streams back to the driver.
    pub(super) fn trim_all(&self) {
        lock(&self.tables).clear();
        let streams: Vec<_> = lock(&self.streams).iter().filter_map(Weak::upgrade).collect();
        for stream in streams {
            stream.trim();
        }
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

    pub(super) fn kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        let key = (source.module.to_owned(), name.to_owned());
        if let Some(kernel) = lock(&self.kernels).get(&key) {
            return Ok(*kernel);
        }
        let kernel = self.shared.driver.kernel(source, name)?;
        lock(&self.kernels).insert(key, kernel);
        Ok(kernel)
    }

    /// Allocates from the driver within the cap; when there is too little, once more after a trim.
    pub(super) fn allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        match self.allocate_once(bytes) {
            Err(Error::OutOfMemory { .. }) => {
                self.trim_all();
                self.allocate_once(bytes)
            }
            other => other,
        }
    }

    fn allocate_once(&self, bytes: usize) -> Result<MemoryHandle> {
        self.count(bytes)?;
        let result = self.shared.driver.memory_allocate(bytes);
        if result.is_err() {
            self.shared.uncount(bytes);
        }
        result
    }

    /// Counts so many bytes more as allocated, if the cap lets it.
    pub(super) fn count(&self, bytes: usize) -> Result<()> {
        let requested = bytes as u64;
        let before = self.shared.allocated.fetch_add(requested, Ordering::SeqCst);
        if let Some(limit) = self.limit.filter(|limit| before + requested > *limit) {
            self.shared.uncount(bytes);
            let available = limit.saturating_sub(before);
            return Err(Error::OutOfMemory { device: self.info().name.clone(), requested, available });
        }
        self.shared.peak.fetch_max(before + requested, Ordering::Relaxed);
        Ok(())
    }
}
