//! Implements bellperson's lock files, by which processes share devices. A process that computes on a device holds its
//! GPU lock. A high-priority proof holds the priority lock, and others make way for it.
//!
//! Stock bellperson's processes see these locks and vice versa: both use advisory locks of whole files (`flock`, where
//! available) with the same names. Two locks of one process exclude each other too.

use std::cell::Cell;
use std::env::{temp_dir, var};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::LocalKey;
use std::time::{Duration, Instant};

use proofwarp::backend::Device;
use proofwarp::{Accelerator, file_state};

const GPU: &str = "bellman.gpu.lock";
const PRIORITY: &str = "bellman.priority.lock";
/// Interval between checks of the priority lock, 5 ms: a check costs three system calls.
const PRIORITY_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Interval between attempts to take a lock that must not block the thread, 2 ms.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(2);

thread_local! {
    /// Counts the GPU locks that this thread holds. A rayon worker that waits for parts of a proof may start another
    /// proof. That proof must not wait for a lock that this thread releases only afterwards.
    static GPU_HELD: Cell<usize> = const { Cell::new(0) };
    /// Counts the priority locks that this thread holds.
    static PRIORITY_HELD: Cell<usize> = const { Cell::new(0) };
}

/// Adds one to a counter of the current thread, and subtracts it again on drop.
#[derive(Debug)]
struct ThreadLocalCount(&'static LocalKey<Cell<usize>>);

impl ThreadLocalCount {
    fn new(counter: &'static LocalKey<Cell<usize>>) -> Self {
        counter.set(counter.get() + 1);
        Self(counter)
    }
}

impl Drop for ThreadLocalCount {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

/// Selects whether a lock admits other shared locks of the file, or no other lock.
#[derive(Debug, Clone, Copy)]
enum LockMode {
    Shared,
    Exclusive,
}

/// Holds a lock on a file, which is released on drop.
#[derive(Debug)]
struct FileLock(File);

impl FileLock {
    /// Locks the file at `path` in mode `kind`, and waits until it can.
    fn acquire(path: &Path, kind: LockMode) -> io::Result<Self> {
        let file = open(path)?;
        log::debug!("waiting for {}", path.display());
        if rayon::current_thread_index().is_none() {
            lock_file(&file, kind).map_err(|error| annotate_error(path, &error))?;
            return Ok(Self(file));
        }
        // The lock's holder may need this worker, which therefore runs other jobs of its pool meanwhile.
        while !try_lock(&file, path, kind)? {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::sleep(LOCK_RETRY_INTERVAL);
            }
        }
        Ok(Self(file))
    }

    /// Locks the file at `path` in mode `kind`. Returns `None` if another lock excludes that.
    fn try_acquire(path: &Path, kind: LockMode) -> io::Result<Option<Self>> {
        let file = open(path)?;
        Ok(try_lock(&file, path, kind)?.then_some(Self(file)))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file releases the lock in any case.
        let _ = self.0.unlock();
    }
}

/// Locks `file` in mode `kind`, and waits until it can. Retries if a signal interrupts the wait.
fn lock_file(file: &File, kind: LockMode) -> io::Result<()> {
    loop {
        let result = match kind {
            LockMode::Shared => file.lock_shared(),
            LockMode::Exclusive => file.lock(),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn try_lock(file: &File, path: &Path, kind: LockMode) -> io::Result<bool> {
    let result = match kind {
        LockMode::Shared => file.try_lock_shared(),
        LockMode::Exclusive => file.try_lock(),
    };
    match result {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(annotate_error(path, &error)),
    }
}

/// Opens the lock file at `path`, and creates it if there is none. Another user's file often allows reading only, which
/// suffices.
fn open(path: &Path) -> io::Result<File> {
    // Another user may have put a named pipe there; `file_state::open` does not wait for one.
    let file = file_state::open_nonblocking(OpenOptions::new().write(true).create(true).truncate(false), path);
    file.or_else(|error| {
        file_state::open_nonblocking(OpenOptions::new().read(true), path).map_err(|_| annotate_error(path, &error))
    })
}

fn annotate_error(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("lock file {}: {error}", path.display()))
}

/// Holds devices, and the file locks by which this process may use them.
#[derive(Debug)]
pub(crate) struct GpuLock {
    _files: Vec<FileLock>,
    _counted: ThreadLocalCount,
    devices: Vec<Arc<Device>>,
}

impl GpuLock {
    /// Waits until devices of `accelerator` are free, and locks them. By default, one lock covers all devices. With
    /// `BELLPERSON_GPUS_PER_LOCK` set to n, it takes 1 to n free devices, each by its own lock. The value 0 disables
    /// locking.
    ///
    /// A thread that already holds a GPU lock gets all devices without another lock.
    pub(crate) fn take(accelerator: &Accelerator) -> io::Result<Self> {
        let all = accelerator.devices();
        let (files, devices) = match gpus_per_lock() {
            _ if Self::is_held() => (Vec::new(), all.to_vec()),
            Some(0) => (Vec::new(), all.to_vec()),
            Some(most) => lock_free_devices(all, most)?,
            None => (vec![FileLock::acquire(&path(None), LockMode::Exclusive)?], all.to_vec()),
        };
        Ok(Self { _files: files, _counted: ThreadLocalCount::new(&GPU_HELD), devices })
    }

    /// Returns whether this thread holds a GPU lock.
    pub(crate) fn is_held() -> bool {
        GPU_HELD.get() > 0
    }

    /// Returns the devices that this process may use.
    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }
}

/// Returns the value of `BELLPERSON_GPUS_PER_LOCK`, or `None` if it is unset or not a number.
fn gpus_per_lock() -> Option<usize> {
    let text = var("BELLPERSON_GPUS_PER_LOCK").ok()?;
    let number = text.parse();
    if number.is_err() {
        log::warn!("BELLPERSON_GPUS_PER_LOCK: expected a number, got {text:?}: one lock for all devices");
    }
    number.ok()
}

/// Locks up to `most` free devices of `all`, and waits until at least one is free. Returns their locks and the devices,
/// in the same order.
///
/// Stock bellperson does not wait: if no device is free, it uses all of them despite the locks of other processes.
fn lock_free_devices(all: &[Arc<Device>], most: usize) -> io::Result<(Vec<FileLock>, Vec<Arc<Device>>)> {
    loop {
        let (mut files, mut devices) = (Vec::new(), Vec::new());
        for device in all {
            if files.len() == most {
                break;
            }
            if let Some(file) = FileLock::try_acquire(&path(Some(device)), LockMode::Exclusive)? {
                files.push(file);
                devices.push(device.clone());
            }
        }
        if !files.is_empty() {
            return Ok((files, devices));
        }
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            std::thread::sleep(LOCK_RETRY_INTERVAL);
        }
    }
}

/// Returns the path of the GPU lock file of `device`. With `None`, it is the lock file for all devices.
fn path(device: Option<&Device>) -> PathBuf {
    let id = |device: &Device| uuid(device.info().unique_id);
    temp_dir().join(device.map_or_else(|| GPU.to_owned(), |device| format!("{GPU}.{}", id(device))))
}

/// Formats `bytes` in hexadecimal as aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.
fn uuid(bytes: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Holds the priority lock. Until it is dropped, proofs without priority make way, in all processes.
#[derive(Debug)]
pub(crate) struct PriorityLock {
    _file: FileLock,
    _counted: ThreadLocalCount,
}

impl PriorityLock {
    /// Locks the priority lock, and waits for other high-priority proofs until it can.
    pub(crate) fn take() -> io::Result<Self> {
        let file = FileLock::acquire(&temp_dir().join(PRIORITY), LockMode::Exclusive)?;
        Ok(Self { _file: file, _counted: ThreadLocalCount::new(&PRIORITY_HELD) })
    }

    /// Returns whether this thread holds the priority lock.
    pub(crate) fn is_held() -> bool {
        PRIORITY_HELD.get() > 0
    }
}

/// Waits until no process holds the priority lock.
pub(crate) fn wait_priority_released() -> io::Result<()> {
    // Shared: waiting processes do not take each other for a high-priority proof.
    FileLock::acquire(&temp_dir().join(PRIORITY), LockMode::Shared).map(drop)
}

/// Returns whether any process holds the priority lock; false if that cannot be determined.
pub(crate) fn priority_taken() -> bool {
    let attempt = FileLock::try_acquire(&temp_dir().join(PRIORITY), LockMode::Shared);
    attempt.map_or_else(
        |error| {
            log::warn!("whether a proof of high priority waits is not known: {error}");
            false
        },
        |lock| lock.is_none(),
    )
}

/// Detects whether a proof has requested priority since this value was made. Reads the lock file at most once every
/// `PRIORITY_POLL_INTERVAL`.
#[derive(Debug)]
pub(crate) struct PriorityPoll {
    since: Instant,
    /// Microseconds from `since` to the next check.
    next: AtomicU64,
    yes: AtomicBool,
}

impl PriorityPoll {
    /// Creates a value that has seen no request yet.
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), next: AtomicU64::new(0), yes: AtomicBool::new(false) }
    }

    /// Returns whether a proof has requested priority since this value was made.
    pub(crate) fn poll(&self) -> bool {
        let (now, next) = (self.since.elapsed().as_micros() as u64, self.next.load(Ordering::Relaxed));
        let later = now + PRIORITY_POLL_INTERVAL.as_micros() as u64;
        let due = now >= next && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if due && priority_taken() {
            self.yes.store(true, Ordering::Relaxed);
        }
        self.yes.load(Ordering::Relaxed)
    }
}
