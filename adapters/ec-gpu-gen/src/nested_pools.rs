//! Provides thread pools that never wait for each other in a circle.
//!
//! A job may use rayon, start further jobs and wait for them. So may its caller, which may be a rayon worker. If all of
//! them shared one pool of each kind, every thread of one pool could wait for the other. Therefore jobs that a job
//! starts run in the pool of the next level. Jobs of a rayon worker run in pools whose threads own a few rayon threads
//! each. Their use of rayon then needs none of the caller's.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use rayon::ThreadPoolBuilder;

use crate::threads::Threads;

/// Maximum number of threads in the rayon pool that a job's thread owns if the job's caller is a rayon worker.
const NESTED_POOL_THREADS: usize = 4;

thread_local! {
    /// Holds the nesting depth of this thread: 0 outside the pools, and its caller's depth plus 1 in a job's thread.
    static ABOVE: Cell<usize> = const { Cell::new(0) };
}

/// Holds the thread pools of one nesting depth.
#[derive(Default)]
struct PoolLevel {
    /// Pool for callers that are not rayon workers: its jobs use rayon's global pool.
    plain: Option<Threads>,
    /// Pool for rayon workers.
    with_cores: Option<Threads>,
}

static LEVELS: Mutex<Vec<PoolLevel>> = Mutex::new(Vec::new());

/// Returns the pool that runs the jobs which this thread starts. If there is none yet, creates it with up to `threads`
/// threads.
pub(crate) fn current_level_pool(threads: usize) -> Threads {
    get_or_start_pool(ABOVE.get(), rayon::current_thread_index().is_some(), threads)
}

fn get_or_start_pool(level: usize, of_rayon: bool, threads: usize) -> Threads {
    let mut levels = LEVELS.lock().unwrap_or_else(PoisonError::into_inner);
    if levels.len() <= level {
        levels.resize_with(level + 1, PoolLevel::default);
    }
    let place = if of_rayon { &mut levels[level].with_cores } else { &mut levels[level].plain };
    place.get_or_insert_with(|| start_pool(threads, level + 1, of_rayon)).clone()
}

fn start_pool(threads: usize, above: usize, of_rayon: bool) -> Threads {
    Threads::start(threads, move || {
        ABOVE.set(above);
        if of_rayon {
            join_own_rayon_pool(threads.min(NESTED_POOL_THREADS), above);
        }
    })
}

/// Makes this thread a worker of a new rayon pool of `count` threads. The nesting depth of these threads is `above`.
fn join_own_rayon_pool(count: usize, above: usize) {
    let cores =
        ThreadPoolBuilder::new().num_threads(count).use_current_thread().start_handler(move |_| ABOVE.set(above));
    match cores.build() {
        // Never dropped, because the thread never ends.
        Ok(cores) => std::mem::forget(cores),
        Err(error) => log::warn!("a job's thread has no cores of its own and uses rayon's global pool: {error}"),
    }
}
