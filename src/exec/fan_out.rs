//! Runs one piece of work for each device, at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::panics::flatten_panic;
use crate::backend::lock;
use crate::rayon_waits::{Task, join_all};
use crate::{Error, Result};

/// Runs `work` on all `pieces` at the same time, one thread each, and returns the results in the order of `pieces`. The
/// calling thread runs the first piece. Helper threads run the others. They stay alive between calls, because a thread
/// that is new to a device's driver costs as much as a small operation. A panic on a helper thread becomes an error of
/// `operation`; one on the calling thread goes on once all pieces have ended.
pub(crate) fn fan_out<P: Send, T: Send>(
    operation: &str,
    mut pieces: impl Iterator<Item = P>,
    work: impl Fn(P) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let Some(first) = pieces.next() else { return Vec::new() };
    let others: Vec<P> = pieces.collect();
    if others.is_empty() {
        return vec![work(first)];
    }
    let places: Vec<Mutex<Option<Result<T>>>> = others.iter().map(|_| Mutex::new(None)).collect();
    let attempt = |piece| flatten_panic(operation, catch_unwind(AssertUnwindSafe(|| work(piece))));
    let attempt = &attempt;
    let task = |(piece, place)| -> Task<'_> { Box::new(move || *lock(place) = Some(attempt(piece))) };
    let tasks = others.into_iter().zip(&places).map(task).collect();
    let first = join_all(tasks, || work(first));
    let taken = |place: Mutex<Option<_>>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
    let others = places.into_iter().map(|place| taken(place).unwrap_or_else(|| Err(Error::internal(operation))));
    std::iter::once(first).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_in_order_and_panics_caught() {
        for count in 0..6 {
            let results = fan_out("test", 0..count, |number| match number {
                3 => panic!("on purpose"),
                _ => Ok(2 * number),
            });
            assert_eq!(results.len(), count);
            for (number, result) in results.into_iter().enumerate() {
                match number {
                    3 => assert!(result.is_err_and(|error| error.to_string().contains("on purpose"))),
                    _ => assert_eq!(result.expect("no panic"), 2 * number),
                }
            }
        }
    }

    /// Checks that pieces which wait for each other all end, because they run at the same time. Calls are also nested
    /// and come from several threads.
    #[test]
    fn pieces_are_done_at_the_same_time() {
        let all = |count: usize| {
            let barrier = std::sync::Barrier::new(count);
            let sums = fan_out("test", 0..count, |_| {
                barrier.wait();
                Ok(fan_out("test", 0..3, Ok).into_iter().flatten().sum::<usize>())
            });
            assert!(sums.into_iter().all(|sum| sum.is_ok_and(|sum| sum == 3)));
        };
        std::thread::scope(|scope| (1..9).for_each(|count| drop(scope.spawn(move || all(count)))));
    }
}
