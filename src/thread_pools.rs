//! Pools of threads under the system's limits, such as `ulimit -u`: a pool has as many threads as the system gives.
//!
//! rayon starts its global pool by itself, and panics ever after if the system refuses one of its threads. This crate
//! therefore starts the threads first, and then a pool of those that it got.

use std::str::FromStr;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::{io, thread};

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use crate::backend::lock;
use crate::{Error, Result};

/// Starts rayon's global thread pool, unless it runs already.
///
/// # Errors
/// - [`Error::Device`]: the system gives not even one thread. A later call tries again.
pub(crate) fn ensure_global_pool() -> Result<()> {
    static READY: OnceLock<()> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if READY.get().is_some() {
        return Ok(());
    }
    let _starting = lock(&STARTING);
    if READY.get().is_none() {
        start_global_pool(default_thread_count())?;
        READY.get_or_init(|| ());
    }
    Ok(())
}

fn start_global_pool(count: usize) -> Result<()> {
    let threads = start_idle_threads(count, "rayon's global pool", |_| None);
    if threads.is_empty() {
        return Err(Error::device(
            "host",
            "thread",
            "the system starts no thread: expected one at least for rayon's pool",
        ));
    }
    // An error means that the program has built the pool before.
    let _ = ThreadPoolBuilder::new()
        .num_threads(threads.len())
        .spawn_handler(prestarted_spawn_handler(threads))
        .build_global();
    Ok(())
}

/// Creates a rayon pool of at most `count` threads, whose names `name` gives by index. Returns `None` if the system
/// starts no thread.
pub(crate) fn build_pool(count: usize, name: fn(usize) -> String) -> Option<ThreadPool> {
    let threads = start_idle_threads(count, "cores beside rayon's global pool", |number| Some(name(number)));
    if threads.is_empty() {
        return None;
    }
    let builder = ThreadPoolBuilder::new().num_threads(threads.len()).thread_name(name);
    let pool = builder.spawn_handler(prestarted_spawn_handler(threads)).build();
    pool.inspect_err(|error| log::warn!("no cores beside rayon's global pool: {error}")).ok()
}

/// Starts up to `count` threads that wait for a rayon pool's work. Returns a channel to each, through which the pool
/// hands over that work. A thread ends if its channel is dropped.
fn start_idle_threads(count: usize, what: &str, name: impl Fn(usize) -> Option<String>) -> Vec<Sender<ThreadBuilder>> {
    let start = |number| {
        let (sender, work) = channel::<ThreadBuilder>();
        let named = name(number).map_or_else(thread::Builder::new, |name| thread::Builder::new().name(name));
        let run = move || work.recv().into_iter().for_each(ThreadBuilder::run);
        let thread = named.spawn(run);
        thread.map(|_| sender).inspect_err(|error| log::warn!("{what}: {number} threads for {count}: {error}")).ok()
    };
    (0..count).map_while(start).collect()
}

/// Returns whether the system can start `count` more threads that run at the same time. The threads started for this
/// test have ended when it returns.
pub(crate) fn can_start_threads(count: usize) -> bool {
    let (ends, end) = channel::<()>();
    let end = Arc::new(Mutex::new(end));
    let start = |_| {
        let end = end.clone();
        thread::Builder::new().spawn(move || lock(&end).recv().is_err()).ok()
    };
    let threads: Vec<_> = (0..count).map_while(start).collect();
    drop(ends);
    let ended = threads.into_iter().filter_map(|thread| thread.join().ok()).count();
    ended == count
}

fn prestarted_spawn_handler(threads: Vec<Sender<ThreadBuilder>>) -> impl FnMut(ThreadBuilder) -> io::Result<()> {
    let mut threads = threads.into_iter();
    let lost = || io::Error::other("a thread that was started is gone");
    move |work| threads.next().and_then(|thread| thread.send(work).ok()).ok_or_else(lost)
}

/// Returns the number of threads that rayon's global pool has by default, from its environment variables or the number
/// of cores.
fn default_thread_count() -> usize {
    let asked = |name| std::env::var(name).ok().and_then(|text| usize::from_str(&text).ok());
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    match (asked("RAYON_NUM_THREADS"), asked("RAYON_RS_NUM_CPUS")) {
        (Some(0), _) => cores(),
        (Some(count), _) | (None, Some(count @ 1..)) => count,
        (None, _) => cores(),
    }
}
