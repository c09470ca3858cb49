//! One piece of work for each device, at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rayon::Yield;

use crate::backend::lock;
use crate::{Error, Result};

/// The results of all pieces, in their order. The caller's thread does the first; others wait for work in between, since
/// one that is new to a device's driver costs as much as a small operation.
pub(crate) fn side_by_side<P: Send, T: Send>(
    operation: &str,
    pieces: impl Iterator<Item = P>,
    work: impl Fn(P) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let attempt = |piece| catch_unwind(AssertUnwindSafe(|| work(piece)));
    let attempt = |piece| attempt(piece).unwrap_or_else(|_| Err(Error::panicked(operation)));
    let mut pieces = pieces;
    let Some(first) = pieces.next() else { return Vec::new() };
    let others: Vec<P> = pieces.collect();
    let places: Vec<Mutex<Option<Result<T>>>> = others.iter().map(|_| Mutex::new(None)).collect();
    let pending = Arc::new(Pending::new(others.len()));
    for (piece, place) in others.into_iter().zip(&places) {
        let task: Box<dyn FnOnce() + Send + '_> = Box::new(move || *lock(place) = Some(attempt(piece)));
        // SAFETY: what the task borrows outlives it: nothing below returns or unwinds before `pending` has counted
        // every task, which is after it has run and gone.
        let task = unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + '_>, Task>(task) };
        let pending = pending.clone();
        run_elsewhere(Box::new(move || {
            task();
            pending.one_less();
        }));
    }
    let first = attempt(first);
    pending.wait();
    let taken = |place: Mutex<Option<_>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
    let others = places.into_iter().map(|place| taken(place).unwrap_or_else(|| Err(Error::panicked(operation))));
    std::iter::once(first).chain(others).collect()
}

type Task = Box<dyn FnOnce() + Send>;

/// Threads that wait for work.
static IDLE: Mutex<Vec<Sender<Task>>> = Mutex::new(Vec::new());

/// Has a thread do a task that does not unwind: an idle one, or a new one, or this one where the system gives none.
fn run_elsewhere(mut task: Task) {
    while let Some(idle) = { lock(&IDLE).pop() } {
        match idle.send(task) {
            Ok(()) => return,
            Err(SendError(back)) => task = back,
        }
    }
    let (sender, tasks) = channel::<Task>();
    let again = sender.clone();
    let wait_for_work = move || {
        for task in tasks {
            task();
            lock(&IDLE).push(again.clone());
        }
    };
    let thread = std::thread::Builder::new().name("proofwarp-device".to_owned()).spawn(wait_for_work);
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

impl Pending {
    fn new(count: usize) -> Self {
        Self { count: Mutex::new(count), none: Condvar::new() }
    }

    fn one_less(&self) {
        *lock(&self.count) -= 1;
        self.none.notify_all();
    }

    /// A core of rayon's pool does the pool's work meanwhile: the tasks may wait for some of it.
    fn wait(&self) {
        while let Some(last) = rayon::yield_now() {
            let count = lock(&self.count);
            if *count == 0 {
                return;
            }
            if last == Yield::Idle {
                drop(self.none.wait_timeout(count, LOOK));
            }
        }
        let mut count = lock(&self.count);
        while *count > 0 {
            count = self.none.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_in_order_and_panics_caught() {
        for count in 0..6 {
            let results = side_by_side("test", 0..count, |number| match number {
                3 => panic!("on purpose"),
                _ => Ok(2 * number),
            });
            assert_eq!(results.len(), count);
            for (number, result) in results.into_iter().enumerate() {
                match number {
                    3 => assert!(result.is_err()),
                    _ => assert_eq!(result.expect("no panic"), 2 * number),
                }
            }
        }
    }

    /// Pieces that wait for each other end: all are done at the same time, also from several threads and within each other.
    #[test]
    fn pieces_are_done_at_the_same_time() {
        let all = |count: usize| {
            let barrier = std::sync::Barrier::new(count);
            let sums = side_by_side("test", 0..count, |_| {
                barrier.wait();
                Ok(side_by_side("test", 0..3, Ok).into_iter().flatten().sum::<usize>())
            });
            assert!(sums.into_iter().all(|sum| sum.is_ok_and(|sum| sum == 3)));
        };
        std::thread::scope(|scope| (1..9).for_each(|count| drop(scope.spawn(move || all(count)))));
    }
}
