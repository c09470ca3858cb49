//! A bound on what is queued on a device where somebody may abort: what is queued cannot be taken back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::{Abort, Mark, lock};
use crate::Result;

/// Queued work at most: half of what an abort may take, since it is an estimate.
const MOST: Duration = Duration::from_millis(50);
/// Work too short to be counted.
const SHORT: Duration = Duration::from_millis(1);
/// Compute units of the device that estimates are for, an H200.
const UNITS: u32 = 132;

/// Work that takes so long by estimate, and the mark where it ends once all of it is queued.
#[derive(Debug)]
struct Piece {
    time: Duration,
    end: OnceLock<Arc<Mark>>,
}

/// Work that may still be queued. The lock is held to count only, never while work is queued: a worker that queues may take
/// up its pool's work on the way, which asks for a turn as well.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<VecDeque<Arc<Piece>>>);

/// A turn to queue work; the work is counted until it has run, or this is dropped without an end.
pub(crate) struct Turn<'a> {
    pace: &'a Pace,
    piece: Arc<Piece>,
}

impl Turn<'_> {
    /// Notes where the work ends.
    pub fn ends(self, mark: Arc<Mark>) {
        self.piece.end.get_or_init(|| mark);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.piece.end.get().is_none() {
            self.pace.forget(&self.piece);
        }
    }
}

impl Pace {
    /// Waits until there is room for work of so long; nothing is counted where nobody aborts, or for short work.
    /// `units` are the device's compute units; `wait_until` waits for a mark and asks `abort` meanwhile.
    pub fn turn(
        &self,
        units: u32,
        time: Duration,
        abort: Abort<'_>,
        wait_until: impl Fn(&Mark) -> Result<()>,
    ) -> Result<Option<Turn<'_>>> {
        let time = time * UNITS / units.max(1);
        if abort.is_none() || time < SHORT {
            return Ok(None);
        }
        while let Some((earlier, mark)) = self.in_the_way(time) {
            wait_until(&mark)?;
            self.forget(&earlier);
        }
        Ok(Some(self.enter(time)))
    }

    /// The first work to wait for, where there is too much. What others are queueing now has no end yet and is not waited
    /// for, so the bound is exceeded by a piece for each of them at most.
    fn in_the_way(&self, time: Duration) -> Option<(Arc<Piece>, Arc<Mark>)> {
        let pieces = lock(&self.0);
        if pieces.iter().map(|piece| piece.time).sum::<Duration>() + time <= MOST {
            return None;
        }
        pieces.iter().find_map(|piece| Some((piece.clone(), piece.end.get()?.clone())))
    }

    fn enter(&self, time: Duration) -> Turn<'_> {
        let piece = Arc::new(Piece { time, end: OnceLock::new() });
        lock(&self.0).push_back(piece.clone());
        Turn { pace: self, piece }
    }

    fn forget(&self, piece: &Arc<Piece>) {
        lock(&self.0).retain(|other| !Arc::ptr_eq(other, piece));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Accelerator;

    const LONG: Duration = Duration::from_secs(60);

    /// As when a worker that queues work takes up another call on the way.
    #[test]
    fn a_turn_within_a_turn_does_not_wait() {
        let accelerator = Accelerator::automatic().expect("settings are right");
        let Some(device) = accelerator.devices().first() else { return println!("no device: left out") };
        let stream = device.stream().expect("a stream");
        let (pace, go_on): (Pace, &(dyn Fn() -> bool + Send + Sync)) = (Pace::default(), &|| false);
        let turn = || pace.turn(1, LONG, Some(go_on), |mark| stream.wait_until(mark, None)).expect("a turn");
        let (outer, inner) = (turn().expect("it is counted"), turn().expect("it is counted"));
        let mark = Arc::new(stream.mark().expect("a mark"));
        inner.ends(mark);
        drop(outer);
        assert_eq!(lock(&pace.0).len(), 1, "what was not queued is forgotten");
        let next = turn();
        assert_eq!(lock(&pace.0).len(), 1, "what has ended is forgotten");
        drop(next);
        assert!(lock(&pace.0).is_empty());
    }
}
