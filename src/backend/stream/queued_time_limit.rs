//! Limits the work queued on a device while an abort hook is set, because queued work cannot be cancelled.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::Result;
use crate::backend::{Abort, Event, lock};

/// Maximum estimated time of queued work, 50 ms: half of the abort latency budget, since times are estimates.
const MAX_QUEUED: Duration = Duration::from_millis(50);
/// Minimum estimated time of work that is counted, 1 ms.
const MIN_COUNTED: Duration = Duration::from_millis(1);
/// Number of compute units of an H200, the GPU that time estimates assume.
const UNITS: u32 = 132;

/// Holds the estimated time of queued work and, once all of it is queued, the event at its end.
#[derive(Debug)]
struct QueuedWork {
    time: Duration,
    end: OnceLock<Arc<Event>>,
}

/// Tracks the work queued on a device. The lock is held only to count, never while work is queued. A rayon worker
/// that queues work may run other jobs of its pool meanwhile, which request permits too.
#[derive(Debug, Default)]
pub(crate) struct QueueLimiter(Mutex<VecDeque<Arc<QueuedWork>>>);

/// Permits its holder to queue work on a device. The work counts as queued until it has run, or until the permit is
/// dropped without an end event.
pub(crate) struct QueuePermit<'a> {
    pace: &'a QueueLimiter,
    piece: Arc<QueuedWork>,
}

impl QueuePermit<'_> {
    /// Sets `mark`, an event recorded behind the work, as the end of the work.
    pub(crate) fn release_on(self, mark: Arc<Event>) {
        self.piece.end.get_or_init(|| mark);
    }
}

impl Drop for QueuePermit<'_> {
    fn drop(&mut self) {
        if self.piece.end.get().is_none() {
            self.pace.remove_work(&self.piece);
        }
    }
}

impl QueueLimiter {
    /// Waits until the limit allows further work of the estimated `time`, then returns a permit. Returns `None` at
    /// once if there is no hook, or if the work takes less than `MIN_COUNTED`. `units` is the device's number of
    /// compute units, to which `time` is scaled. `wait_until` waits for an event and calls `abort` meanwhile.
    #[allow(clippy::arithmetic_side_effects, reason = "times are estimates far below what a `Duration` holds")]
    pub(crate) fn acquire(
        &self,
        units: u32,
        time: Duration,
        abort: Abort<'_>,
        wait_until: impl Fn(&Event) -> Result<()>,
    ) -> Result<Option<QueuePermit<'_>>> {
        let time = time * UNITS / units.max(1);
        if abort.is_none() || time < MIN_COUNTED {
            return Ok(None);
        }
        while let Some((earlier, mark)) = self.find_blocking_work(time) {
            wait_until(&mark)?;
            self.remove_work(&earlier);
        }
        Ok(Some(self.issue_permit(time)))
    }

    /// Returns the oldest queued work and its end event, if new work of `time` would exceed the limit, else `None`.
    /// Work that other threads are queueing now has no end event yet and is not waited for. Each of these threads may
    /// therefore exceed the limit by one piece of work.
    #[allow(clippy::arithmetic_side_effects, reason = "times are estimates far below what a `Duration` holds")]
    fn find_blocking_work(&self, time: Duration) -> Option<(Arc<QueuedWork>, Arc<Event>)> {
        let pieces = lock(&self.0);
        if pieces.iter().map(|piece| piece.time).sum::<Duration>() + time <= MAX_QUEUED {
            return None;
        }
        pieces.iter().find_map(|piece| Some((piece.clone(), piece.end.get()?.clone())))
    }

    fn issue_permit(&self, time: Duration) -> QueuePermit<'_> {
        let piece = Arc::new(QueuedWork { time, end: OnceLock::new() });
        lock(&self.0).push_back(piece.clone());
        QueuePermit { pace: self, piece }
    }

    fn remove_work(&self, piece: &Arc<QueuedWork>) {
        lock(&self.0).retain(|other| !Arc::ptr_eq(other, piece));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Accelerator;

    const LONG: Duration = Duration::from_secs(60);

    /// Checks that a thread that holds a permit can acquire another: a worker that queues work may run another call
    /// meanwhile.
    #[test]
    fn a_turn_within_a_turn_does_not_wait() {
        let accelerator = Accelerator::automatic().expect("settings are right");
        let Some(device) = accelerator.devices().first() else { return println!("skipped: no device") };
        let stream = device.stream().expect("a stream");
        let (pace, go_on): (QueueLimiter, &(dyn Fn() -> bool + Send + Sync)) = (QueueLimiter::default(), &|| false);
        let acquire =
            || pace.acquire(1, LONG, Some(go_on), |mark| stream.synchronize_event(mark, None)).expect("a turn");
        let (outer, inner) = (acquire().expect("it is counted"), acquire().expect("it is counted"));
        let mark = Arc::new(stream.record_event().expect("a mark"));
        inner.release_on(mark);
        drop(outer);
        assert_eq!(lock(&pace.0).len(), 1, "what was not queued is forgotten");
        let next = acquire();
        assert_eq!(lock(&pace.0).len(), 1, "what has ended is forgotten");
        drop(next);
        assert!(lock(&pace.0).is_empty());
    }
}
