//! Waiting without keeping the workers of anybody's pool from what the wait needs.
//!
//! A worker that waits for another thread either does its pool's work meanwhile ([`elsewhere`]), or what it waits for needs
//! none of that pool's workers ([`apart`]): threads of this crate's own spread their copies over its own cores. The second
//! is for callers that hold a lock, such as bellperson's on devices: its pool's work may be another proof that waits for
//! the lock, on top of the caller that holds it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rayon::{Scope, ThreadPool, Yield};

use crate::backend::lock;
use crate::{process, threads};

/// A worker of a rayon pool has another thread do the work, and does its pool's work meanwhile; another thread does it
/// itself. So what the work locks is never asked for by what the worker takes up before the work has ended.
///
/// # Panics
/// The work panicked: its panic goes on.
pub fn elsewhere<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    off_the_pool(work, Pending::wait_at_work)
}

/// As [`elsewhere`], but a worker takes up nothing meanwhile: the work must not need its pool.
///
/// # Panics
/// The work panicked: its panic goes on.
pub fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    off_the_pool(work, Pending::wait_idle)
}

/// Does work with this crate's own cores, as many as rayon's global pool has, which never wait for a caller's. The work must
/// not wait for other threads.
pub fn on_cores<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match cores() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// What a place holds, or what is made for it now: who comes meanwhile waits for that, but no worker of a pool does so under
/// what makes it.
///
/// # Errors
/// Those of `make`.
pub fn made_once<T, E>(place: &Mutex<Option<Arc<T>>>, make: impl FnOnce() -> Result<T, E> + Send) -> Result<Arc<T>, E>
where
    T: Send + Sync,
    E: Send,
{
    if let Some(value) = there(place) {
        return Ok(value);
    }
    elsewhere(|| {
        let mut place = lock(place);
        match &*place {
            Some(value) => Ok(value.clone()),
            None => make().map(|value| place.insert(Arc::new(value)).clone()),
        }
    })
}

/// What a place holds now; nothing while something is being made for it.
pub(crate) fn there<T>(place: &Mutex<Option<Arc<T>>>) -> Option<Arc<T>> {
    match place.try_lock() {
        Ok(value) => value.clone(),
        Err(TryLockError::Poisoned(value)) => value.into_inner().clone(),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// What a panic said.
pub fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it said nothing")
}

fn off_the_pool<T: Send>(work: impl FnOnce() -> T + Send, wait: fn(&Pending)) -> T {
    if rayon::current_thread_index().is_none() {
        return work();
    }
    let (outcome, ()) = two(work, || (), wait);
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Does two things at the same time, the first on another thread; with its panic if it did.
pub fn beside<A: Send, B>(theirs: impl FnOnce() -> A + Send, mine: impl FnOnce() -> B) -> (thread::Result<A>, B) {
    two(theirs, mine, Pending::wait_at_work)
}

fn two<A: Send, B>(
    theirs: impl FnOnce() -> A + Send,
    mine: impl FnOnce() -> B,
    wait: fn(&Pending),
) -> (thread::Result<A>, B) {
    let place = Mutex::new(None);
    let task: Task<'_> = Box::new(|| *lock(&place) = Some(catch_unwind(AssertUnwindSafe(theirs))));
    let mine = together(vec![task], mine, wait);
    let theirs = place.into_inner().unwrap_or_else(PoisonError::into_inner);
    (theirs.unwrap_or_else(|| Err(Box::new("a thread ended without a result"))), mine)
}

/// Work that does not unwind.
pub(crate) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Does tasks on other threads while this one does something itself, and then waits for them.
fn together<T>(tasks: Vec<Task<'_>>, mine: impl FnOnce() -> T, wait: fn(&Pending)) -> T {
    let pending = Arc::new(Pending { count: Mutex::new(tasks.len()), none: Condvar::new() });
    for task in tasks {
        // SAFETY: what the task borrows outlives it: nothing below returns or unwinds before `pending` has counted
        // every task, which is after it has run and gone.
        let task = unsafe { std::mem::transmute::<Task<'_>, Task<'static>>(task) };
        let pending = pending.clone();
        run_elsewhere(Box::new(move || {
            // Whatever becomes of the task: the caller waits for it.
            let _ended = Ended(pending);
            task();
        }));
    }
    let mine = catch_unwind(AssertUnwindSafe(mine));
    wait(&pending);
    mine.unwrap_or_else(|panic| resume_unwind(panic))
}

/// As [`together`], doing a pool's work while it waits.
pub(crate) fn all_at_once<T>(tasks: Vec<Task<'_>>, mine: impl FnOnce() -> T) -> T {
    together(tasks, mine, Pending::wait_at_work)
}

/// Threads that wait for work.
static IDLE: Mutex<Vec<Sender<Task<'static>>>> = Mutex::new(Vec::new());

/// Has a thread do a task: an idle one, or a new one, or this one where the system gives none.
fn run_elsewhere(mut task: Task<'static>) {
    if process::check().is_err() {
        // The idle threads are the parent's.
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

/// Pause between two looks for work of rayon's pool.
const LOOK: Duration = Duration::from_micros(50);

/// Tasks that have not ended.
struct Pending {
    count: Mutex<usize>,
    none: Condvar,
}

/// A task's end, when it is dropped.
struct Ended(Arc<Pending>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.one_less();
    }
}

impl Pending {
    fn one_less(&self) {
        *lock(&self.count) -= 1;
        self.none.notify_all();
    }

    /// A core of rayon's pool does the pool's work meanwhile: the tasks may wait for some of it.
    fn wait_at_work(&self) {
        while *lock(&self.count) > 0 {
            match rayon::yield_now() {
                None => return self.wait_idle(),
                Some(Yield::Executed) => {}
                Some(Yield::Idle) => drop(self.none.wait_timeout_while(lock(&self.count), LOOK, |count| *count > 0)),
            }
        }
    }

    fn wait_idle(&self) {
        drop(self.none.wait_while(lock(&self.count), |count| *count > 0));
    }
}

/// For threads that are of no pool, since their caller may be all the workers of rayon's global one. These here never wait.
static CORES: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    // Asked by a thread of no pool, it is the global one's.
    threads::check().inspect_err(|error| log::warn!("{error}")).ok()?;
    let count = thread::scope(|scope| {
        let asked = thread::Builder::new().spawn_scoped(scope, rayon::current_num_threads).ok()?;
        asked.join().ok()
    });
    let count = count.unwrap_or_else(rayon::current_num_threads);
    threads::pool(count, |number| format!("proofwarp-core-{number}"))
});

/// This crate's own cores. A child that was forked has none of its parent's, and gets others: what has no error to give must
/// not hang there.
fn cores() -> Option<&'static ThreadPool> {
    if process::check().is_ok() { CORES.as_ref() } else { cores_of_child() }
}

fn cores_of_child() -> Option<&'static ThreadPool> {
    static CHILDS: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let mut childs = lock(&CHILDS);
    let child = std::process::id();
    // A child of the child has that one's pool here, and none of its threads.
    if let Some((_, pool)) = childs.filter(|(owner, _)| *owner == child) {
        return Some(pool);
    }
    let count = thread::available_parallelism().map_or(1, usize::from);
    let pool = threads::pool(count, |number| format!("proofwarp-child-{number}"))?;
    Some(childs.insert((child, Box::leak(Box::new(pool)))).1)
}

/// Spreads work over the cores of the caller's pool, or, if it is of none, over this crate's own ([`on_cores`]).
pub(crate) fn spread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_thread_index().is_some() { work() } else { on_cores(work) }
}

/// rayon's scope on the cores of [`spread`].
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

    /// Work that needs the pool's only worker, or a lock that is asked for again by what the worker takes up meanwhile.
    #[test]
    fn a_worker_alone_goes_on() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let turn = Mutex::new(0);
        let one = || {
            elsewhere(|| {
                let mut turn = lock(&turn);
                *turn += pool.install(|| 1);
            });
        };
        pool.install(|| rayon::scope(|scope| (0..5).for_each(|_| scope.spawn(|_| one()))));
        assert_eq!(*lock(&turn), 5);
    }

    /// What is queued in the worker's pool stays queued while it waits apart.
    #[test]
    fn nothing_is_taken_up_apart() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let turn = Mutex::new(());
        let one = || {
            let _turn = turn.try_lock().expect("the only worker is here");
            assert_eq!(apart(|| on_cores(|| 7)), 7);
        };
        pool.install(|| rayon::scope(|scope| (0..5).for_each(|_| scope.spawn(|_| one()))));
    }

    #[test]
    fn panics_go_on() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let work = || -> () { panic!("on {}", "purpose") };
        for wait in [|work: fn()| elsewhere(work), |work: fn()| apart(work)] {
            let panic = catch_unwind(AssertUnwindSafe(|| pool.install(|| wait(work))));
            assert_eq!(text_of(&*panic.expect_err("it panics")), "on purpose");
        }
        let (theirs, mine) = beside(|| -> u8 { panic!("on purpose") }, || 7);
        assert_eq!((text_of(&*theirs.expect_err("it panics")), mine), ("on purpose", 7));
    }
}
