//! Provides a pool of threads that outlive the panics of their jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, unbounded};
use proofwarp::rayon_waits::panic_message;

/// A function that a thread runs once.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// A handle of threads that run jobs one after another. The threads end once all handles are dropped.
#[derive(Clone)]
pub(crate) struct Threads {
    /// `None` if the system gave no thread: callers then run their jobs themselves.
    jobs: Option<Sender<Job>>,
    count: usize,
}

impl Threads {
    /// Starts up to `count` threads, or fewer if the system gives fewer. Each thread calls `begin` first.
    pub(crate) fn start(count: usize, begin: impl Fn() + Clone + Send + 'static) -> Self {
        let (sender, jobs) = unbounded();
        let start = |number: usize| {
            let (begin, jobs) = (begin.clone(), jobs.clone());
            let thread = Builder::new().name(format!("worker-thread-{}", number + 1)).spawn(move || {
                begin();
                run_jobs(&jobs);
            });
            thread.inspect_err(|error| log::warn!("ec-gpu-gen: {number} threads for {count}: {error}")).ok()
        };
        let started = (0..count).map_while(start).count();
        Self { jobs: (started > 0).then_some(sender), count: started }
    }

    /// Returns the number of threads that were started.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Runs `job` on one of the threads, or on the calling thread if none was started. A panic of the job is logged and
    /// does not reach the caller.
    pub(crate) fn execute(&self, job: Job) {
        match &self.jobs {
            // Threads live as long as there is a sender, so there is a receiver.
            Some(jobs) => drop(jobs.send(job)),
            None => run_logging_panic(job),
        }
    }
}

fn run_jobs(jobs: &Receiver<Job>) {
    jobs.iter().for_each(run_logging_panic);
}

/// Runs `job` and logs its panic, if it panics. Jobs of scopes and of `Worker::compute` catch their panics earlier, for
/// their callers.
fn run_logging_panic(job: Job) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
        log::error!("ec-gpu-gen: a job of the pool panicked: {}", panic_message(&*panic));
    }
}
