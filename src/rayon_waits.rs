//! Waits for work without blocking the workers of any rayon pool.
//!
//! A rayon worker that waits for another thread has two ways:
//! - [`block_in_place`]: it runs its pool's jobs meanwhile.
//! - [`run_off_pool`]: it runs none, and the work needs none of that pool's workers. Threads of this crate's own spread their
//!   copies over its own cores.
//!
//! The second is for callers that hold a lock, such as bellperson's on devices. A job of the pool may be another proof
//! that waits for the lock, on top of the caller that holds it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rayon::{Scope, ThreadPool, Yield};

pub use crate::error::panic_message;

#[cfg(doc)]
use crate::Error;
use crate::backend::lock;
use crate::{fork_check, thread_pools};

/// Checks that this process can use rayon. Outside any pool, starts rayon's global pool with as many threads as the
/// system gives. rayon itself would panic if the system refused one of them. Call it before work that uses rayon and
/// that no operation of this crate precedes.
///
/// # Errors
/// - [`Error::Forked`]: [`fork_check::check`] explains it.
/// - [`Error::Device`]: the system gives not even one thread.
pub fn check_host_threads() -> crate::Result<()> {
    fork_check::check()?;
    if rayon::current_thread_index().is_some() { Ok(()) } else { thread_pools::ensure_global_pool() }
}

/// Runs `work` and returns its result. On a rayon worker, a helper thread runs `work`, and the worker runs other jobs
/// of its pool until `work` ends. On any other thread, `work` runs inline. A pool job thus never waits for a lock that
/// `work` holds further down the same stack.
///
/// # Panics
/// Resumes the panic of `work`.
pub fn block_in_place<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_none() { work() } else { run_off_worker(work, CountdownLatch::wait_stealing) }
}

/// Runs `work` and returns its result. On a rayon worker, a helper thread runs `work`, and the worker waits without
/// running other jobs of its pool. On any other thread, `work` runs inline. `work` must not need the worker's pool.
///
/// # Panics
/// Resumes the panic of `work`.
pub fn run_off_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_none() { work() } else { run_off_worker(work, CountdownLatch::wait_parked) }
}

/// Runs `work` in this crate's own thread pool, whose threads never wait for a caller's pool. The pool has at most as
/// many threads as rayon's global pool. If the pool could not be started, the calling thread runs `work`. `work` must
/// not wait for other threads.
pub fn on_cpu_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match cpu_pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Returns the value in `place`. If `place` is empty, initialises it with the result of `make`. Concurrent callers wait
/// for that result. A rayon worker runs its pool's jobs meanwhile, so `make` may use the pool.
///
/// # Errors
/// - The error of `make`: `make` failed.
pub fn get_or_try_init<T, E>(
    place: &Mutex<Option<Arc<T>>>,
    make: impl FnOnce() -> Result<T, E> + Send,
) -> Result<Arc<T>, E>
where
    T: Send + Sync,
    E: Send,
{
    if let Some(value) = try_get(place) {
        return Ok(value);
    }
    block_in_place(|| {
        let mut place = lock(place);
        match &*place {
            Some(value) => Ok(value.clone()),
            None => make().map(|value| place.insert(Arc::new(value)).clone()),
        }
    })
}

/// Returns the value in `place`, or `None` if `place` is empty or another thread is initialising it.
pub(crate) fn try_get<T>(place: &Mutex<Option<Arc<T>>>) -> Option<Arc<T>> {
    match place.try_lock() {
        Ok(value) => value.clone(),
        Err(TryLockError::Poisoned(value)) => value.into_inner().clone(),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Runs `work` on a helper thread, while this rayon worker calls `wait`.
fn run_off_worker<T: Send>(work: impl FnOnce() -> T + Send, wait: fn(&CountdownLatch)) -> T {
    let (outcome, ()) = join_with(work, || (), wait);
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs `theirs` on a helper thread and `mine` on this one, at the same time. Returns the results of `theirs` and
/// `mine`, in this order. The first is an error if `theirs` panicked.
pub fn join<A: Send, B>(theirs: impl FnOnce() -> A + Send, mine: impl FnOnce() -> B) -> (thread::Result<A>, B) {
    join_with(theirs, mine, CountdownLatch::wait_stealing)
}

fn join_with<A: Send, B>(
    theirs: impl FnOnce() -> A + Send,
    mine: impl FnOnce() -> B,
    wait: fn(&CountdownLatch),
) -> (thread::Result<A>, B) {
    let place = Mutex::new(None);
    let task: Task<'_> = Box::new(|| *lock(&place) = Some(catch_unwind(AssertUnwindSafe(theirs))));
    let mine = run_with_tasks(vec![task], mine, wait);
    let theirs = place.into_inner().unwrap_or_else(PoisonError::into_inner);
    (theirs.unwrap_or_else(|| Err(Box::new("a thread ended without a result"))), mine)
}

/// Boxes a closure that a helper thread runs once. The closure must catch its own panics.
pub(crate) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs `tasks` on helper threads and `mine` on this one, then calls `wait` to wait for the end of all tasks. Returns
/// the result of `mine`.
fn run_with_tasks<T>(tasks: Vec<Task<'_>>, mine: impl FnOnce() -> T, wait: fn(&CountdownLatch)) -> T {
    let pending = Arc::new(CountdownLatch { count: Mutex::new(tasks.len()), none: Condvar::new() });
    for task in tasks {
        // SAFETY: everything that the task borrows outlives it: nothing below returns or unwinds before `pending` has
        // counted every task, which is after it has run and gone.
        let task = unsafe { std::mem::transmute::<Task<'_>, Task<'static>>(task) };
        let pending = pending.clone();
        spawn_on_helper(Box::new(move || {
            // Counts the task even if it panics: the caller waits for it.
            let _ended = CountdownGuard(pending);
            task();
        }));
    }
    let mine = catch_unwind(AssertUnwindSafe(mine));
    wait(&pending);
    mine.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs `tasks` on helper threads and `mine` on this one, then waits for the end of all tasks. A rayon worker runs its
/// pool's jobs while it waits. Returns the result of `mine`.
pub(crate) fn join_all<T>(tasks: Vec<Task<'_>>, mine: impl FnOnce() -> T) -> T {
    run_with_tasks(tasks, mine, CountdownLatch::wait_stealing)
}

/// Holds a channel to each idle helper thread, through which the thread gets its next task.
static IDLE: Mutex<Vec<Sender<Task<'static>>>> = Mutex::new(Vec::new());

/// Runs `task` on an idle helper thread, or on a new one. The calling thread runs it in a forked child, or if the
/// system starts no thread.
fn spawn_on_helper(mut task: Task<'static>) {
    if fork_check::check().is_err() {
        // The idle threads belong to the parent.
        return task();
    }
    while let Some(idle) = { lock(&IDLE).pop() } {
        match idle.send(task) {
            Ok(()) => return,
            Err(SendError(back)) => task = back,
        }
    }
    let (sender, tasks) = channel::<Task<'static>>();
    let again = sender.clone();
    let wait_for_work = move || {
        for task in tasks {
            task();
            lock(&IDLE).push(again.clone());
        }
    };
    let thread = thread::Builder::new().name("proofwarp-device".to_owned()).spawn(wait_for_work);
    match thread {
        Ok(_) => drop(sender.send(task)),
        Err(_) => task(),
    }
}

/// Maximum pause between two polls for jobs of rayon's pool, 50 µs.
const STEAL_INTERVAL: Duration = Duration::from_micros(50);

/// Holds the number of tasks that have not ended, and lets a thread wait until it is 0.
struct CountdownLatch {
    count: Mutex<usize>,
    none: Condvar,
}

/// Decrements the latch when dropped, which is when a task ends or panics.
struct CountdownGuard(Arc<CountdownLatch>);

impl Drop for CountdownGuard {
    fn drop(&mut self) {
        self.0.count_down();
    }
}

impl CountdownLatch {
    fn count_down(&self) {
        *lock(&self.count) -= 1;
        self.none.notify_all();
    }

    /// Waits until the count is 0. A rayon worker runs its pool's jobs meanwhile, since the tasks may wait for some of
    /// them.
    fn wait_stealing(&self) {
        while *lock(&self.count) > 0 {
            match rayon::yield_now() {
                None => return self.wait_parked(),
                Some(Yield::Executed) => {}
                Some(Yield::Idle) => {
                    drop(self.none.wait_timeout_while(lock(&self.count), STEAL_INTERVAL, |count| *count > 0));
                }
            }
        }
    }

    fn wait_parked(&self) {
        drop(self.none.wait_while(lock(&self.count), |count| *count > 0));
    }
}

/// Maximum threads of this crate's own pool per core of the machine, 4. Idle rayon threads search each other for work,
/// in a time that grows with the square of their number.
const MAX_THREADS_PER_CORE: usize = 4;

/// Holds this crate's own thread pool, which serves threads outside any rayon pool. All workers of rayon's global pool
/// may wait for such threads, so the global pool cannot serve them. Threads of this pool never wait for others. `None`
/// means that no pool could be started.
static CORES: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    // A thread of no pool gets the number of the global pool.
    thread_pools::ensure_global_pool().inspect_err(|error| log::warn!("{error}")).ok()?;
    let count = thread::scope(|scope| {
        let asked = thread::Builder::new().spawn_scoped(scope, rayon::current_num_threads).ok()?;
        asked.join().ok()
    });
    let most = thread::available_parallelism().map_or(1, usize::from).saturating_mul(MAX_THREADS_PER_CORE);
    let count = count.unwrap_or_else(rayon::current_num_threads).min(most);
    thread_pools::build_pool(count, |number| format!("proofwarp-core-{number}"))
});

/// Returns this crate's own thread pool, or `None` if it could not be started. A forked child lacks its parent's
/// threads, so it gets a new pool. Functions that return no error must not hang there.
fn cpu_pool() -> Option<&'static ThreadPool> {
    if fork_check::check().is_ok() { CORES.as_ref() } else { forked_child_pool() }
}

fn forked_child_pool() -> Option<&'static ThreadPool> {
    static CHILDS: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let mut childs = lock(&CHILDS);
    let child = std::process::id();
    // A child of the child finds that one's pool here, and none of its threads.
    if let Some((_, pool)) = childs.filter(|(owner, _)| *owner == child) {
        return Some(pool);
    }
    let count = thread::available_parallelism().map_or(1, usize::from);
    let pool = thread_pools::build_pool(count, |number| format!("proofwarp-child-{number}"))?;
    Some(childs.insert((child, Box::leak(Box::new(pool)))).1)
}

/// Runs `work` in the caller's rayon pool. If the caller is outside any pool, runs it in this crate's own pool
/// ([`on_cpu_pool`]).
pub(crate) fn install<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_some() { work() } else { on_cpu_pool(work) }
}

/// Runs `work` on the calling thread with a rayon scope. Jobs spawned in the scope run in the pool that [`install`]
/// would use.
pub(crate) fn in_place_scope<'s, T>(work: impl FnOnce(&Scope<'s>) -> T) -> T {
    match cpu_pool() {
        Some(pool) if rayon::current_thread_index().is_none() => pool.in_place_scope(work),
        _ => rayon::in_place_scope(work),
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    /// Checks that [`block_in_place`] ends although `work` needs the pool's only worker, and although the worker's next
    /// job takes the same lock.
    #[test]
    fn a_worker_alone_goes_on() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let turn = Mutex::new(0);
        let one = || {
            block_in_place(|| {
                let mut turn = lock(&turn);
                *turn += pool.install(|| 1);
            });
        };
        pool.install(|| rayon::scope(|scope| (0..5).for_each(|_| scope.spawn(|_| one()))));
        assert_eq!(*lock(&turn), 5);
    }

    /// Checks that jobs of the worker's pool stay queued while the worker waits in [`run_off_pool`].
    #[test]
    fn nothing_is_taken_up_apart() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let turn = Mutex::new(());
        let one = || {
            let _turn = turn.try_lock().expect("the only worker is here");
            assert_eq!(run_off_pool(|| on_cpu_pool(|| 7)), 7);
        };
        pool.install(|| rayon::scope(|scope| (0..5).for_each(|_| scope.spawn(|_| one()))));
    }

    #[test]
    fn panics_go_on() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let work = || -> () { panic!("on {}", "purpose") };
        for wait in [|work: fn()| block_in_place(work), |work: fn()| run_off_pool(work)] {
            let panic = catch_unwind(AssertUnwindSafe(|| pool.install(|| wait(work))));
            assert_eq!(panic_message(&*panic.expect_err("it panics")), "on purpose");
        }
        let (theirs, mine) = join(|| -> u8 { panic!("on purpose") }, || 7);
        assert_eq!((panic_message(&*theirs.expect_err("it panics")), mine), ("on purpose", 7));
    }
}
