//! Provides the pool of threads that bellperson shares with this crate.

use std::any::Any;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::LazyLock;

use crossbeam_channel::{Receiver, RecvError, Sender, bounded};
use once_cell::sync::Lazy;
use proofwarp::fork_check;

pub use crate::scope::Scope;
use crate::{nested_pools, scope};

static NUM_THREADS: LazyLock<usize> = LazyLock::new(|| requested_thread_count().unwrap_or_else(num_cpus::get).max(1));

/// The process-wide pool, which has one thread per CPU, or as many as `EC_GPU_NUM_THREADS` says. It has fewer if the
/// system gives fewer.
#[allow(clippy::non_std_lazy_statics, reason = "the type is part of the interface")]
pub static THREAD_POOL: Lazy<Pool> = Lazy::new(|| Pool(()));

/// A thread pool whose jobs may wait for other jobs. If a job or a rayon worker calls [`Pool::scoped`], the new jobs
/// run on further threads, so that the caller does not wait for itself.
pub struct Pool(());

impl Pool {
    /// Calls `f` with a new scope, waits for the scope's jobs, and returns the result of `f`.
    ///
    /// # Panics
    /// Resumes the panic of `f` or of a job, if one panicked; the pool's threads survive. Panics if the process was
    /// forked after its parent's first use of the pool, because a forked process does not have the pool's threads.
    pub fn scoped<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        if let Err(forked) = fork_check::check() {
            panic!("{forked}");
        }
        scope::run_scope(nested_pools::current_level_pool(*NUM_THREADS), f)
    }

    /// Starts `job` and returns at once. A panic of the job is logged.
    ///
    /// # Panics
    /// Panics if the process was forked, as [`Self::scoped`] does.
    pub fn spawn<F: FnOnce() + Send + 'static>(&self, job: F) {
        if let Err(forked) = fork_check::check() {
            panic!("{forked}");
        }
        nested_pools::current_level_pool(*NUM_THREADS).execute(Box::new(job));
    }
}

/// Returns the number of threads in `EC_GPU_NUM_THREADS`, or `None` if it is unset or not a number above zero.
pub(crate) fn requested_thread_count() -> Option<usize> {
    let text = env::var("EC_GPU_NUM_THREADS").ok()?;
    let number = text.parse().ok().filter(|number| *number > 0);
    if number.is_none() {
        log::warn!("EC_GPU_NUM_THREADS: expected a number above 0, got {text:?}: using one thread per CPU");
    }
    number
}

/// A handle that starts jobs on [`THREAD_POOL`].
#[derive(Clone, Default)]
pub struct Worker {}

impl Worker {
    /// Creates a handle of [`THREAD_POOL`].
    pub fn new() -> Self {
        Self {}
    }

    /// Returns the binary logarithm of the pool's number of threads, rounded down.
    pub fn log_num_threads(&self) -> u32 {
        NUM_THREADS.ilog2()
    }

    /// Starts `f` on the pool and returns at once. The returned [`Waiter`] receives the result. `f` may start other
    /// functions on the pool, and wait for them.
    ///
    /// A panic of `f` does not harm the pool: it resumes in [`Waiter::wait`]. In a forked process, which has no pool,
    /// `wait` panics with that reason.
    pub fn compute<F, R>(&self, f: F) -> Waiter<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let (sender, waiter) = Waiter::pair();
        if let Err(forked) = fork_check::check() {
            // The channel has room for one value and its receiver is held here, so this cannot fail.
            let _ = sender.send(Err(Box::new(forked.to_string())));
            return waiter;
        }
        THREAD_POOL.spawn(move || {
            // An error only means that the waiter is gone.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(f)));
        });
        waiter
    }

    /// Calls `f` with a new scope and a chunk length, waits for the scope's jobs, and returns the result of `f`. The
    /// chunk length is `elements` divided by the number of threads, rounded down, but at least 1.
    pub fn scope<'a, F, R>(&self, elements: usize, f: F) -> R
    where
        F: FnOnce(&Scope<'a>, usize) -> R,
    {
        let chunk = (elements / *NUM_THREADS).max(1);
        THREAD_POOL.scoped(|scope| f(scope, chunk))
    }

    /// Calls `f` with a new scope, waits for the scope's jobs, and returns the result of `f`.
    pub fn scoped<'a, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'a>) -> R,
    {
        THREAD_POOL.scoped(f)
    }
}

type Outcome<T> = Result<T, Box<dyn Any + Send>>;

/// Receives the result of a function that may still run on the pool.
pub struct Waiter<T> {
    receiver: Receiver<Outcome<T>>,
}

impl<T> Waiter<T> {
    fn pair() -> (Sender<Outcome<T>>, Self) {
        let (sender, receiver) = bounded(1);
        (sender, Self { receiver })
    }

    /// Waits for the function and returns its result. It can be called only once.
    ///
    /// # Panics
    /// Panics if the function that computes the result panicked, or if the result was taken before.
    pub fn wait(&self) -> T {
        match self.receiver.recv() {
            Ok(Ok(value)) => value,
            Ok(Err(payload)) => resume_unwind(payload),
            Err(RecvError) => panic!("Waiter::wait: the result was taken before"),
        }
    }

    /// Creates a waiter whose result is `value`, which is available at once.
    pub fn done(value: T) -> Self {
        let (sender, waiter) = Self::pair();
        // The channel has room for one value and its receiver is held here, so this cannot fail.
        let _ = sender.send(Ok(value));
        waiter
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// Makes about twice as many jobs panic as the pool has threads, and checks that the threads survive.
    #[test]
    fn panics_go_on_and_threads_live() {
        let panics = run_with_timeout(|| {
            let round = |number| {
                let work = || {
                    Worker::new().scoped(|scope| scope.execute(move || assert!(number == usize::MAX, "job {number}")));
                };
                let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("it panics");
                proofwarp::rayon_waits::panic_message(&*panic).to_owned()
            };
            THREAD_POOL.spawn(|| panic!("to the log"));
            let panics: Vec<_> = (0..=2 * *NUM_THREADS).map(round).collect();
            Worker::new().scope(9, |scope, chunk| scope.execute(move || assert!(chunk > 0)));
            panics
        });
        assert!(panics.iter().enumerate().all(|(number, panic)| *panic == format!("job {number}")), "{panics:?}");
    }

    /// Returns the result of `work`. Panics if `work` takes longer than 60 s.
    fn run_with_timeout<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, ended) = channel();
        std::thread::spawn(move || sender.send(work()));
        ended.recv_timeout(Duration::from_secs(60)).expect("an end, not a deadlock")
    }

    /// Runs more jobs than the pool has threads. Each job does so again and waits, to a nesting depth of `depth`. The
    /// innermost jobs count in `done`.
    fn run_nested_scopes(depth: usize, done: &AtomicUsize) {
        Worker::new().scoped(|scope| {
            for _ in 0..=*NUM_THREADS {
                scope.execute(|| match depth {
                    1 => _ = done.fetch_add(1, Ordering::Relaxed),
                    _ => run_nested_scopes(depth - 1, done),
                });
            }
        });
    }

    fn run_nested_computations(depth: usize) -> usize {
        let jobs = (0..=*NUM_THREADS)
            .map(|_| Worker::new().compute(move || if depth == 1 { 1 } else { run_nested_computations(depth - 1) }));
        let jobs: Vec<_> = jobs.collect();
        jobs.iter().map(Waiter::wait).sum()
    }

    #[test]
    fn jobs_wait_for_jobs() {
        let expected = (*NUM_THREADS + 1).pow(3);
        let counted = run_with_timeout(|| {
            let done = AtomicUsize::new(0);
            run_nested_scopes(3, &done);
            done.into_inner()
        });
        assert_eq!(counted, expected);
        assert_eq!(run_with_timeout(|| run_nested_computations(3)), expected);
    }

    /// Checks that the only worker of a rayon pool can wait for jobs that use rayon, and for the jobs that these start.
    #[test]
    fn a_worker_of_rayon_waits_for_jobs() {
        use rayon::prelude::*;
        let sum = || (0..100).into_par_iter().sum::<usize>();
        let counted = run_with_timeout(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
            pool.install(|| {
                let mut sums = [0; 9];
                THREAD_POOL.scoped(|scope| {
                    for place in &mut sums {
                        scope.execute(move || *place = Worker::new().compute(sum).wait());
                    }
                });
                sums.iter().sum::<usize>()
            })
        });
        assert_eq!(counted, 9 * 4950);
    }
}
