//! bellperson's lock files, by which processes share devices: whoever computes on one holds its GPU lock, and a proof
//! of high priority holds the priority lock, for which others make way.
//!
//! Stock bellperson's processes see these locks, and theirs are seen here: both are advisory locks of whole files
//! (`flock`, where there is one) of the same names. Two locks of one process exclude each other too.

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
use proofwarp::{Accelerator, files};

const GPU: &str = "bellman.gpu.lock";
const PRIORITY: &str = "bellman.priority.lock";
/// A question whether the priority lock is taken costs three system calls.
const ASK_AGAIN: Duration = Duration::from_millis(5);
/// How often a lock is tried that cannot be waited for.
const TRY_AGAIN: Duration = Duration::from_millis(2);

thread_local! {
    /// Locks that this thread has. A pool's worker that waits for parts of a proof may take up another meanwhile,
    /// which must not wait for what this thread would give back only afterwards.
    static GPU_HELD: Cell<usize> = const { Cell::new(0) };
    static PRIORITY_HELD: Cell<usize> = const { Cell::new(0) };
}

/// Counts in a thread's number while it lives, in that thread.
#[derive(Debug)]
struct Counted(&'static LocalKey<Cell<usize>>);

impl Counted {
    fn new(counter: &'static LocalKey<Cell<usize>>) -> Self {
        counter.set(counter.get() + 1);
        Self(counter)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

/// How a file is locked.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Shared,
    Exclusive,
}

/// A file that is locked until this is dropped.
#[derive(Debug)]
struct Locked(File);

impl Locked {
    /// Waits for the lock.
    fn wait(path: &Path, kind: Kind) -> io::Result<Self> {
        let file = open(path)?;
        log::debug!("waiting for {}", path.display());
        if rayon::current_thread_index().is_none() {
            block(&file, kind).map_err(|error| at(path, &error))?;
            return Ok(Self(file));
        }
        // The lock's holder may need this worker: meanwhile it does what there is to do.
        while !try_lock(&file, path, kind)? {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::sleep(TRY_AGAIN);
            }
        }
        Ok(Self(file))
    }

    /// The lock, if it is free.
    fn attempt(path: &Path, kind: Kind) -> io::Result<Option<Self>> {
        let file = open(path)?;
        Ok(try_lock(&file, path, kind)?.then_some(Self(file)))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file gives the lock back in any case.
        let _ = self.0.unlock();
    }
}

/// Waits for the lock, through signals.
fn block(file: &File, kind: Kind) -> io::Result<()> {
    loop {
        let result = match kind {
            Kind::Shared => file.lock_shared(),
            Kind::Exclusive => file.lock(),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn try_lock(file: &File, path: &Path, kind: Kind) -> io::Result<bool> {
    let result = match kind {
        Kind::Shared => file.try_lock_shared(),
        Kind::Exclusive => file.try_lock(),
    };
    match result {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(at(path, &error)),
    }
}

/// Opens a lock file, which is made if there is none. One of another user can often be read only, which is enough.
fn open(path: &Path) -> io::Result<File> {
    // Another user may have put a named pipe there, which is not waited for.
    let file = files::open(OpenOptions::new().write(true).create(true).truncate(false), path);
    file.or_else(|error| files::open(OpenOptions::new().read(true), path).map_err(|_| at(path, &error)))
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("lock file {}: {error}", path.display()))
}

/// Locks on devices, and the devices.
#[derive(Debug)]
pub struct GpuLock {
    _files: Vec<Locked>,
    _counted: Counted,
    devices: Vec<Arc<Device>>,
}

impl GpuLock {
    /// Waits for the devices: for all of them by one lock, or, with `BELLPERSON_GPUS_PER_LOCK`, for up to so many of
    /// those that are free, each by its own, and at least one. With a 0 there is no lock.
    ///
    /// A thread that has them already gets them at once.
    pub fn take(accelerator: &Accelerator) -> io::Result<Self> {
        let all = accelerator.devices();
        let (files, devices) = match per_lock() {
            _ if Self::held() => (Vec::new(), all.to_vec()),
            Some(0) => (Vec::new(), all.to_vec()),
            Some(most) => some(all, most)?,
            None => (vec![Locked::wait(&path(None), Kind::Exclusive)?], all.to_vec()),
        };
        Ok(Self { _files: files, _counted: Counted::new(&GPU_HELD), devices })
    }

    /// Whether this thread has one.
    pub fn held() -> bool {
        GPU_HELD.get() > 0
    }

    /// The devices.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }
}

/// What `BELLPERSON_GPUS_PER_LOCK` says, if that is a number.
fn per_lock() -> Option<usize> {
    let text = var("BELLPERSON_GPUS_PER_LOCK").ok()?;
    let number = text.parse();
    if number.is_err() {
        log::warn!("BELLPERSON_GPUS_PER_LOCK: expected a number, got {text:?}: one lock for all devices");
    }
    number.ok()
}

/// Locks up to so many devices that are free, once there is one.
///
/// Where none is, stock bellperson goes on with all of them, against the locks of others.
fn some(all: &[Arc<Device>], most: usize) -> io::Result<(Vec<Locked>, Vec<Arc<Device>>)> {
    loop {
        let (mut files, mut devices) = (Vec::new(), Vec::new());
        for device in all {
            if files.len() == most {
                break;
            }
            if let Some(file) = Locked::attempt(&path(Some(device)), Kind::Exclusive)? {
                files.push(file);
                devices.push(device.clone());
            }
        }
        if !files.is_empty() {
            return Ok((files, devices));
        }
        if rayon::yield_now() != Some(rayon::Yield::Executed) {
            std::thread::sleep(TRY_AGAIN);
        }
    }
}

/// The GPU lock's file, of a device or of all.
fn path(device: Option<&Device>) -> PathBuf {
    let id = |device: &Device| uuid(device.info().unique_id);
    temp_dir().join(device.map_or_else(|| GPU.to_owned(), |device| format!("{GPU}.{}", id(device))))
}

/// aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.
fn uuid(bytes: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// The priority lock, which others make way for.
#[derive(Debug)]
pub struct PriorityLock {
    _file: Locked,
    _counted: Counted,
}

impl PriorityLock {
    /// Waits for others of high priority.
    pub fn take() -> io::Result<Self> {
        let file = Locked::wait(&temp_dir().join(PRIORITY), Kind::Exclusive)?;
        Ok(Self { _file: file, _counted: Counted::new(&PRIORITY_HELD) })
    }

    /// Whether this thread has it.
    pub fn held() -> bool {
        PRIORITY_HELD.get() > 0
    }
}

/// Waits until nobody has the priority lock.
pub fn wait_for_priority() -> io::Result<()> {
    // Shared: those that wait do not take each other for one of high priority.
    Locked::wait(&temp_dir().join(PRIORITY), Kind::Shared).map(drop)
}

/// Whether somebody has the priority lock; no, where that cannot be told.
pub fn priority_taken() -> bool {
    let attempt = Locked::attempt(&temp_dir().join(PRIORITY), Kind::Shared);
    attempt.map_or_else(
        |error| {
            log::warn!("whether a proof of high priority waits is not known: {error}");
            false
        },
        |lock| lock.is_none(),
    )
}

/// Whether somebody has wanted priority since this was made, asked of the file once in a while only.
#[derive(Debug)]
pub struct Asked {
    since: Instant,
    /// Microseconds from then to the next question.
    next: AtomicU64,
    yes: AtomicBool,
}

impl Asked {
    /// Nobody has yet.
    pub fn new() -> Self {
        Self { since: Instant::now(), next: AtomicU64::new(0), yes: AtomicBool::new(false) }
    }

    /// Whether somebody has.
    pub fn ask(&self) -> bool {
        let (now, next) = (self.since.elapsed().as_micros() as u64, self.next.load(Ordering::Relaxed));
        let later = now + ASK_AGAIN.as_micros() as u64;
        let due = now >= next && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if due && priority_taken() {
            self.yes.store(true, Ordering::Relaxed);
        }
        self.yes.load(Ordering::Relaxed)
    }
}
