//! Waits for work without keeping any pool's workers from it.
//!
//! A worker that waits for another thread has two ways:
//! - [`block_in_place`]: it runs its pool's jobs meanwhile.
//! - [`run_off_pool`]: it runs none, and the work needs none of that pool's workers. Threads of this crate's own spread their
//!   copies over its own cores.
//!
//! The second is for callers that hold a lock, such as bellperson's on devices: a job of the pool may be another proof
//! that waits for the lock, on top of the caller that holds it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rayon::{Scope, ThreadPool, Yield};

use crate::backend::lock;
pub use crate::panic_message::panic_message;
use crate::{fork_check, threads};

/// On a rayon worker, runs `work` on a helper thread and keeps running pool jobs until it ends; on any other thread,
/// runs it inline. Such a job therefore never waits for a lock held by `work` on its own stack.
///
/// # Panics
/// Resumes the panic of `work`.
pub fn block_in_place<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    offload(work, CountdownLatch::wait_stealing)
}

/// On a rayon worker, runs `work` on a helper thread and waits without running pool jobs; on any other thread, runs it
/// inline. `work` must not need the worker's pool.
///
/// # Panics
/// Resumes the panic of `work`.
pub fn run_off_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    offload(work, CountdownLatch::wait_parked)
}

/// Runs `work` on this crate's own cores, at most as many as rayon's global pool has, which never wait for a caller's.
/// `work` must not wait for other threads.
pub fn on_cpu_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match cores() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Returns the value in `place`, initialising it with `make` if empty. Concurrent callers wait; rayon workers wait off
/// their pool, so `make` may use it.
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

/// Returns the value in `place`; `None` if it is empty or being made.
pub(crate) fn try_get<T>(place: &Mutex<Option<Arc<T>>>) -> Option<Arc<T>> {
    match place.try_lock() {
        Ok(value) => value.clone(),
        Err(TryLockError::Poisoned(value)) => value.into_inner().clone(),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn offload<T: Send>(work: impl FnOnce() -> T + Send, wait: fn(&CountdownLatch)) -> T {
    if rayon::current_thread_index().is_none() {
        return work();
    }
    let (outcome, ()) = join_with(work, || (), wait);
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs `theirs` on another thread and `mine` on this one, at the same time. The first result is an error if `theirs`
/// panicked.
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

/// Holds work that does not unwind.
pub(crate) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs `tasks` on other threads and `mine` on this one, then waits for the tasks by `wait`.
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

/// Runs `tasks` on other threads and `mine` on this one, then runs a pool's jobs until the tasks have ended.
pub(crate) fn join_all<T>(tasks: Vec<Task<'_>>, mine: impl FnOnce() -> T) -> T {
    run_with_tasks(tasks, mine, CountdownLatch::wait_stealing)
}

/// Threads that wait for work.
static IDLE: Mutex<Vec<Sender<Task<'static>>>> = Mutex::new(Vec::new());

/// Runs a task on an idle thread, or on a new one, or on this one if the system gives none.
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

/// Pause between two polls for jobs of rayon's pool, 50 µs.
const STEAL_INTERVAL: Duration = Duration::from_micros(50);

/// Counts the tasks that have not ended.
struct CountdownLatch {
    count: Mutex<usize>,
    none: Condvar,
}

/// Counts a task's end when dropped.
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

    /// Waits; a worker of rayon's pool runs the pool's jobs meanwhile, since the tasks may wait for some of them.
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

/// Maximum threads of this crate's own cores for each core of the machine, 4: idle threads of rayon's search each other
/// for work, which takes a time that grows with the square of their number.
const MAX_THREADS_PER_CORE: usize = 4;

/// Serves threads outside any rayon pool. All workers of rayon's global pool may wait for such threads, so that pool
/// cannot serve them. The threads of this pool never wait. `None` means that no pool could be started.
static CORES: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    // A thread of no pool gets the number of the global pool.
    threads::check().inspect_err(|error| log::warn!("{error}")).ok()?;
    let count = thread::scope(|scope| {
        let asked = thread::Builder::new().spawn_scoped(scope, rayon::current_num_threads).ok()?;
        asked.join().ok()
    });
    let most = thread::available_parallelism().map_or(1, usize::from).saturating_mul(MAX_THREADS_PER_CORE);
    let count = count.unwrap_or_else(rayon::current_num_threads).min(most);
    threads::pool(count, |number| format!("proofwarp-core-{number}"))
});

/// Returns this crate's own cores. A forked child has none of its parent's, and gets others: functions that return no
/// error must not hang there.
fn cores() -> Option<&'static ThreadPool> {
    if fork_check::check().is_ok() { CORES.as_ref() } else { cores_of_child() }
}

fn cores_of_child() -> Option<&'static ThreadPool> {
    static CHILDS: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let mut childs = lock(&CHILDS);
    let child = std::process::id();
    // A child of the child finds that one's pool here, and none of its threads.
    if let Some((_, pool)) = childs.filter(|(owner, _)| *owner == child) {
        return Some(pool);
    }
    let count = thread::available_parallelism().map_or(1, usize::from);
    let pool = threads::pool(count, |number| format!("proofwarp-child-{number}"))?;
    Some(childs.insert((child, Box::leak(Box::new(pool)))).1)
}

/// Spreads work over the cores of the caller's pool, or, if it is of none, over this crate's own ([`on_cpu_pool`]).
pub(crate) fn install<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_some() { work() } else { on_cpu_pool(work) }
}

/// Runs rayon's scope on the cores of [`install`].
pub(crate) fn in_place_scope<'s, T>(work: impl FnOnce(&Scope<'s>) -> T) -> T {
    match cores() {
        Some(pool) if rayon::current_thread_index().is_none() => pool.in_place_scope(work),
        _ => rayon::in_place_scope(work),
    }
}

#[cfg(test)]
mod tests {
    use rayon::ThreadPoolBuilder;

    use super::*;

    /// Checks work that needs the pool's only worker, or a lock that the worker's next job requests again.
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

    /// Checks that jobs of the worker's pool stay queued while it waits apart.
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
