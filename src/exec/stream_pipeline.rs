//! Keeps several items in flight on a device, so that their copies and kernels overlap.

use super::ExecCtx;
use crate::{Error, Result};

/// Sends `items` through `slots`, which take turns, and returns the slots. A slot holds what one item in flight needs:
/// its stream, and buffers that later items reuse.
///
/// ```text
/// slot 0  turn: queue 0                wait  turn: take 0, queue 2                  wait  turn: take 2
/// slot 1                turn: queue 1                              wait  turn: take 1
/// ```
///
/// `turn` takes a slot, the value of the item that has finished there, and the next item. It queues that item and
/// returns its value, or `None` if it queues nothing. Before a turn, `wait` waits for the item that the slot has queued,
/// and polls the hook. If the slot has queued none, the hook is polled only. At the end each slot has a turn without a
/// next item.
///
/// After an error, each slot drops before the value of its item. The drop must wait for the slot's commands. No command
/// then uses the memory of an item once this function has returned.
pub(crate) fn run_pipeline<S, T, I>(
    slots: Vec<S>,
    items: impl IntoIterator<Item = I>,
    ctx: ExecCtx<'_>,
    wait: impl Fn(&mut S) -> Result<()>,
    mut turn: impl FnMut(&mut S, Option<T>, Option<I>) -> Result<Option<T>>,
) -> Result<Vec<S>> {
    let count = slots.len();
    let mut slots: Vec<(S, Option<T>)> = slots.into_iter().map(|slot| (slot, None)).collect();
    let last_turns = (0..count).map(|_| None);
    for (number, item) in items.into_iter().map(Some).chain(last_turns).enumerate() {
        let slot = slots.get_mut(number % count.max(1));
        let (slot, queued) = slot.ok_or_else(|| Error::internal("a pipeline without slots"))?;
        if queued.is_some() { wait(slot) } else { ctx.check_abort() }?;
        *queued = turn(slot, queued.take(), item)?;
    }
    Ok(slots.into_iter().map(|(slot, _)| slot).collect())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Logs its drop, in the place of a stream or of an item's buffers.
    struct Probe<'a>(String, &'a RefCell<String>);

    impl Drop for Probe<'_> {
        fn drop(&mut self) {
            self.1.borrow_mut().extend(["-", &self.0, " "]);
        }
    }

    /// Runs `items` through `count` slots. The hook aborts after `polls` calls; item 9 fails. Returns the items queued
    /// (`a0`), the waits (`?a`), the drops (`-a`), and the error.
    fn log_of(count: usize, items: &[usize], polls: usize) -> (String, String) {
        let (log, asked) = (RefCell::<String>::default(), AtomicUsize::new(0));
        let hook = || asked.fetch_add(1, Ordering::Relaxed) >= polls;
        let ctx = ExecCtx::unreported(Some(&hook));
        let slots = ('a'..).take(count).map(|name| Probe(name.into(), &log)).collect();
        let wait = |slot: &mut Probe<'_>| {
            log.borrow_mut().extend(["?", &slot.0, " "]);
            ctx.check_abort()
        };
        let result = run_pipeline(slots, items, ctx, wait, |slot, finished, next| {
            drop(finished);
            let Some(item) = next else { return Ok(None) };
            log.borrow_mut().extend([&slot.0, &item.to_string(), " "]);
            if *item == 9 { Err(Error::internal("test")) } else { Ok(Some(Probe(item.to_string(), &log))) }
        });
        let error = result.map_or_else(|error| error.to_string(), |_| String::new());
        (log.take(), error)
    }

    #[test]
    fn slots_take_turns_and_drop_before_values() {
        let [aborted, failed] = [Error::Aborted, Error::internal("test")].map(|error| error.to_string());
        for (count, items, polls, calls, error) in [
            (2, &[0, 1, 2][..], 5, "a0 b1 ?a -0 a2 ?b -1 ?a -2 -a -b ", ""),
            (2, &[0, 1, 2], 4, "a0 b1 ?a -0 a2 ?b -1 ?a -a -2 -b ", &aborted),
            (2, &[0, 1, 2], 1, "a0 -a -0 -b ", &aborted),
            (2, &[0, 1, 9, 3], 9, "a0 b1 ?a -0 a9 -a -b -1 ", &failed),
            (1, &[0, 1], 9, "a0 ?a -0 a1 ?a -1 -a ", ""),
            (3, &[0], 9, "a0 ?a -0 -a -b -c ", ""),
            (0, &[], 9, "", ""),
            (0, &[0], 9, "", &Error::internal("a pipeline without slots").to_string()),
        ] {
            assert_eq!(log_of(count, items, polls), (calls.into(), error.into()), "{count}, {items:?}, {polls}");
        }
    }
}
