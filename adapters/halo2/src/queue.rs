//! Makes several proofs at a time, so that the device works on one while others are synthesized.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Result};

/// Calls `prove` for each of `jobs` on `threads` threads, and `each` with the results, on this thread and in the order of
/// the jobs. `prove` is usually a call of [`create_proof`](crate::create_proof): a synthesis takes a core and no device,
/// so that two or three threads keep a device busy.
///
/// At most `threads` jobs are in work, or fewer if the system starts fewer threads. At most twice as many are taken from `jobs` and not passed to `each`.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// let mut squares = Vec::new();
/// proofwarp_halo2::prove_in_order(1..=4, NonZeroUsize::MIN, |job| job * job, |square| squares.push(square));
/// assert_eq!(squares, [1, 4, 9, 16]);
/// ```
///
/// # Panics
/// - Resumes the panic of `prove`, of `each` or of `jobs`, once no job is in work. No job is begun after the panic.
/// - The system starts no thread.
pub fn prove_in_order<J: Send, R: Send>(
    jobs: impl IntoIterator<Item = J, IntoIter: Send>,
    threads: NonZeroUsize,
    prove: impl Fn(J) -> R + Sync,
    mut each: impl FnMut(R),
) {
    let queue =
        Queue { state: Mutex::new(State::new(jobs.into_iter())), changed: Condvar::new(), threads: threads.get() };
    thread::scope(|scope| {
        // Threads would wait for ever for results to be taken.
        let end = EndOnDrop(&queue);
        let start = |_: &usize| thread::Builder::new().spawn_scoped(scope, || queue.work(&prove)).is_ok();
        assert!((0..threads.get()).take_while(start).count() > 0, "prove_in_order: no thread could be started");
        while let Some(result) = queue.next_result() {
            each(result.unwrap_or_else(|panic| resume_unwind(panic)));
        }
        drop(end);
    });
}

struct Queue<I, R> {
    state: Mutex<State<I, R>>,
    changed: Condvar,
    threads: usize,
}

struct State<I, R> {
    /// `None` once there is no further job to begin.
    jobs: Option<I>,
    /// Number of jobs that were begun.
    begun: usize,
    /// Number of results that were taken.
    taken: usize,
    /// Results that were not taken, by the numbers of their jobs.
    results: BTreeMap<usize, Result<R>>,
}

impl<I: Iterator, R> State<I, R> {
    fn new(jobs: I) -> Self {
        Self { jobs: Some(jobs), begun: 0, taken: 0, results: BTreeMap::new() }
    }
}

impl<I: Iterator, R> Queue<I, R> {
    /// Works on jobs until there is none.
    fn work(&self, prove: &impl Fn(I::Item) -> R) {
        while let Some((number, job)) = self.next_job() {
            let result = match job {
                Ok(job) => catch_unwind(AssertUnwindSafe(|| prove(job))),
                Err(panic) => Err(panic),
            };
            let mut state = self.lock();
            if result.is_err() {
                state.jobs = None;
            }
            state.results.insert(number, result);
            self.changed.notify_all();
        }
    }

    /// Waits until few results are left to take, and returns the next job and its number.
    fn next_job(&self) -> Option<(usize, Result<I::Item>)> {
        let full = |state: &mut State<I, R>| state.jobs.is_some() && state.begun - state.taken >= 2 * self.threads;
        let mut state = self.changed.wait_while(self.lock(), full).unwrap_or_else(PoisonError::into_inner);
        let jobs = state.jobs.as_mut()?;
        let job = catch_unwind(AssertUnwindSafe(|| jobs.next())).transpose();
        let Some(job) = job else {
            state.jobs = None;
            self.changed.notify_all();
            return None;
        };
        state.begun += 1;
        Some((state.begun - 1, job))
    }

    /// Waits for the result of the next job, and returns it. Returns `None` after the last job.
    fn next_result(&self) -> Option<Result<R>> {
        let waits = |state: &mut State<I, R>| {
            let more = state.jobs.is_some() || state.taken < state.begun;
            more && !state.results.contains_key(&state.taken)
        };
        let mut state = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        let number = state.taken;
        let result = state.results.remove(&number)?;
        state.taken += 1;
        self.changed.notify_all();
        Some(result)
    }

    fn lock(&self) -> MutexGuard<'_, State<I, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the threads of a queue begin no further job when dropped.
struct EndOnDrop<'q, I: Iterator, R>(&'q Queue<I, R>);

impl<I: Iterator, R> Drop for EndOnDrop<'_, I, R> {
    fn drop(&mut self) {
        self.0.lock().jobs = None;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("not 0")
    }

    #[test]
    fn results_are_in_order_and_jobs_are_bounded() {
        for count in [1, 2, 5] {
            let (begun, working) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let jobs = (0..40).inspect(|_| _ = begun.fetch_add(1, Ordering::SeqCst));
            let prove = |job: u64| {
                assert!(working.fetch_add(1, Ordering::SeqCst) < count);
                thread::sleep(Duration::from_millis(job * 7 % 5));
                working.fetch_sub(1, Ordering::SeqCst);
                job
            };
            let mut seen = Vec::new();
            prove_in_order(jobs, threads(count), prove, |result| {
                assert!(begun.load(Ordering::SeqCst) <= seen.len() + 1 + 2 * count);
                seen.push(result);
            });
            assert_eq!(seen, (0..40).collect::<Vec<_>>());
        }
        prove_in_order(0..0, threads(3), |job: u32| job, |_| panic!("no job"));
    }

    #[test]
    fn panics_are_the_callers() {
        let run = |in_prove: bool, in_each: bool| {
            let prove = |job: u32| assert!(!in_prove || job != 3, "prove");
            let mut left = 3;
            let each = |()| {
                left -= 1;
                assert!(!in_each || left > 0, "each");
            };
            catch_unwind(AssertUnwindSafe(|| prove_in_order(0.., threads(2), prove, each))).expect_err("a panic")
        };
        for (panic, text) in [(run(true, false), "prove"), (run(false, true), "each")] {
            assert_eq!(panic.downcast_ref::<&str>(), Some(&text));
        }
    }
}
