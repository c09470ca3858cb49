//! Runs jobs of a pool that borrow from their caller, which waits for them.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::nested_pools;
use crate::threads::{Job, Threads};

/// Starts jobs on a pool. The jobs may borrow values that live for `'scope`, because
/// [`Pool::scoped`](crate::threadpool::Pool::scoped) waits for all of them.
///
/// It has the methods of the scope in the crate yastl, which the stock crate uses. Unlike in yastl, a job that panics
/// costs the pool no thread, and its panic resumes in the caller.
pub struct Scope<'scope> {
    threads: Threads,
    state: Arc<State>,
    /// Invariant: neither a longer nor a shorter lifetime may replace it.
    lifetime: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// Counts the jobs that have not ended, and keeps the first panic.
#[derive(Default)]
struct State {
    jobs: Mutex<Jobs>,
    none: Condvar,
}

#[derive(Default)]
struct Jobs {
    pending: usize,
    /// Payload of the first job that panicked.
    panic: Option<Box<dyn Any + Send>>,
}

impl<'scope> Scope<'scope> {
    /// Starts `job` on a thread of the pool.
    pub fn execute<F>(&self, job: F)
    where
        F: FnOnce() + Send + 'scope,
    {
        self.state.lock().pending += 1;
        let state = self.state.clone();
        let job: Box<dyn FnOnce() + Send + 'scope> = Box::new(move || {
            let panic = catch_unwind(AssertUnwindSafe(job)).err();
            state.finish_job(panic);
        });
        // SAFETY: the values that the job borrows live for `'scope`, which outlives the call that made the scope. That
        // call does not end, not even by a panic, before the job has run and is gone. `ended` touches only values that
        // the job owns.
        self.threads.execute(unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + 'scope>, Job>(job) });
    }

    /// Starts `job` on a thread of the pool. The job receives this scope, and may start further jobs in it.
    pub fn recurse<F>(&self, job: F)
    where
        F: FnOnce(&Self) + Send + 'scope,
    {
        let this = Self { threads: self.threads.clone(), state: self.state.clone(), lifetime: PhantomData };
        self.execute(move || job(&this));
    }

    /// Waits for all jobs of this scope. A job of this scope must not call it, because it would wait for its own end.
    ///
    /// # Panics
    /// Resumes the panic of a job, if one panicked.
    pub fn join(&self) {
        let panic = self.state.wait_all_jobs().panic.take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Calls `f` with a new scope inside this one, waits for that scope's jobs, and returns the result of `f`. If a job
    /// calls it, the inner jobs run on further threads, so that waiting jobs do not block them.
    ///
    /// # Panics
    /// Resumes the panic of `f` or else of a job, if one panicked.
    pub fn zoom<'smaller, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'smaller>) -> R,
        'scope: 'smaller,
    {
        run_scope(nested_pools::current_level_pool(self.threads.count()), f)
    }
}

/// Calls `f` with a new scope on `threads`, waits for the scope's jobs, and returns the result of `f`.
///
/// # Panics
/// Resumes the panic of `f` or else of a job, if one panicked.
pub(crate) fn run_scope<'scope, R>(threads: Threads, f: impl FnOnce(&Scope<'scope>) -> R) -> R {
    let scope = Scope { threads, state: Arc::default(), lifetime: PhantomData };
    let result = {
        let _ended = JoinGuard(&scope.state);
        f(&scope)
    };
    scope.join();
    result
}

/// Waits for all jobs when dropped, also during a panic.
struct JoinGuard<'a>(&'a State);

impl Drop for JoinGuard<'_> {
    fn drop(&mut self) {
        drop(self.0.wait_all_jobs());
    }
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish_job(&self, panic: Option<Box<dyn Any + Send>>) {
        let mut jobs = self.lock();
        jobs.pending -= 1;
        if jobs.panic.is_none() {
            jobs.panic = panic;
        }
        self.none.notify_all();
    }

    fn wait_all_jobs(&self) -> MutexGuard<'_, Jobs> {
        let jobs = self.lock();
        self.none.wait_while(jobs, |jobs| jobs.pending > 0).unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn threads(count: usize) -> Threads {
        Threads::start(count, || {})
    }

    /// Runs `jobs` jobs. The first `panics` jobs panic. Returns the text of the resumed panic, if any, and the
    /// number of jobs that succeeded.
    fn run_panicking_jobs(threads: &Threads, jobs: usize, panics: usize) -> (Option<String>, usize) {
        let done = AtomicUsize::new(0);
        let job = |number| {
            assert!(number >= panics, "on purpose");
            done.fetch_add(1, Ordering::Relaxed);
        };
        let work =
            || run_scope(threads.clone(), |scope| (0..jobs).for_each(|number| scope.execute(move || job(number))));
        let panic = catch_unwind(AssertUnwindSafe(work)).err();
        (panic.map(|panic| proofwarp::rayon_waits::panic_message(&*panic).to_owned()), done.into_inner())
    }

    #[test]
    fn jobs_that_panic_cost_no_thread() {
        for count in 0..3 {
            let threads = threads(count);
            for round in 0..9 {
                let (panic, done) = run_panicking_jobs(&threads, 20, 7);
                assert_eq!((panic.as_deref(), done), (Some("on purpose"), 13), "{count} threads, round {round}");
                assert_eq!(run_panicking_jobs(&threads, 20, 0), (None, 20), "{count} threads, round {round}");
            }
        }
    }

    #[test]
    fn the_callers_own_panic_waits_for_the_jobs() {
        let (threads, done) = (threads(2), AtomicUsize::new(0));
        let work = || -> () {
            run_scope(threads.clone(), |scope| {
                (0..9).for_each(|_| scope.execute(|| _ = done.fetch_add(1, Ordering::Relaxed)));
                panic!("the caller's");
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(work)).expect_err("it panics");
        assert_eq!((proofwarp::rayon_waits::panic_message(&*panic), done.into_inner()), ("the caller's", 9));
    }

    /// Checks that more jobs than threads can wait for an inner scope, whose jobs do so again.
    #[test]
    fn jobs_wait_for_scopes_within() {
        fn start_nested_scopes<'s>(scope: &Scope<'s>, depth: usize, done: &'s AtomicUsize) {
            let inner = move |scope: &Scope<'s>| match depth {
                0 => _ = done.fetch_add(1, Ordering::Relaxed),
                _ => scope.zoom(|scope| (0..5).for_each(|_| start_nested_scopes(scope, depth - 1, done))),
            };
            scope.recurse(inner);
        }
        let (sender, ended) = channel();
        thread::spawn(move || {
            let done = AtomicUsize::new(0);
            run_scope(nested_pools::current_level_pool(2), |scope| start_nested_scopes(scope, 3, &done));
            sender.send(done.into_inner())
        });
        // A deadlock is a failure.
        assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(125));
    }

    #[test]
    fn scopes_lie_in_scopes_and_jobs_start_jobs() {
        let threads = threads(2);
        let mut values = [0; 4];
        let [first, second, third, fourth] = &mut values;
        run_scope(threads, |scope| {
            scope.zoom(|scope| scope.execute(|| *first = 1));
            scope.execute(|| *second = 2);
            scope.join();
            scope.recurse(move |scope| {
                *third = 3;
                scope.execute(move || *fourth = 4);
            });
        });
        assert_eq!(values, [1, 2, 3, 4]);
    }
}
