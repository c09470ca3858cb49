//! Pools that never wait for each other in a circle.
//!
//! A job may use rayon, and start jobs of its own and wait for them; so may its caller, who may be a worker of rayon's. Were
//! all of them to share one pool of each kind, every thread of one could wait for the other. Here jobs that a job starts run
//! in the pool of the next level, and jobs of a worker of rayon's in pools whose threads have a few cores of rayon's for
//! themselves, so that what they do with rayon needs none of the caller's.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use rayon::ThreadPoolBuilder;

use crate::threads::Threads;

/// Cores of its own that a thread has whose caller is a worker of rayon's.
const OWN_CORES: usize = 4;

thread_local! {
    /// Levels above this thread: a job's thread is one below its caller.
    static ABOVE: Cell<usize> = const { Cell::new(0) };
}

/// The pools of one level.
#[derive(Default)]
struct Level {
    /// For callers that are no workers of rayon's: its jobs use rayon's global pool.
    plain: Option<Threads>,
    /// For the others.
    with_cores: Option<Threads>,
}

static LEVELS: Mutex<Vec<Level>> = Mutex::new(Vec::new());

/// The pool for jobs of this thread, of up to `threads` threads if it is new.
pub(crate) fn pool(threads: usize) -> Threads {
    at(ABOVE.get(), rayon::current_thread_index().is_some(), threads)
}

fn at(level: usize, of_rayon: bool, threads: usize) -> Threads {
    let mut levels = LEVELS.lock().unwrap_or_else(PoisonError::into_inner);
    if levels.len() <= level {
        levels.resize_with(level + 1, Level::default);
    }
    let place = if of_rayon { &mut levels[level].with_cores } else { &mut levels[level].plain };
    place.get_or_insert_with(|| new(threads, level + 1, of_rayon)).clone()
}

fn new(threads: usize, above: usize, of_rayon: bool) -> Threads {
    Threads::start(threads, move || {
        ABOVE.set(above);
        if of_rayon {
            take_cores(threads.min(OWN_CORES), above);
        }
    })
}

/// Makes this thread a worker of a pool of rayon's that is its own.
fn take_cores(count: usize, above: usize) {
    let cores =
        ThreadPoolBuilder::new().num_threads(count).use_current_thread().start_handler(move |_| ABOVE.set(above));
    match cores.build() {
        // For good, as the thread is there.
        Ok(cores) => std::mem::forget(cores),
        Err(error) => log::warn!("a job's thread has no cores of its own and uses rayon's global pool: {error}"),
    }
}
