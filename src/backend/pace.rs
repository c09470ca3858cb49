//! A bound on what is queued on a device where somebody may abort: what is queued cannot be taken back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::{Abort, Mark, lock};
use crate::Result;

/// Queued work at most: half of what an abort may take, since it is an estimate.
const MOST: Duration = Duration::from_millis(50);
/// Work too short to be counted.
const SHORT: Duration = Duration::from_millis(1);
/// Compute units of the device that estimates are for, an H200.
const UNITS: u32 = 132;

/// Marks of work that may still be queued, and how long it takes by estimate.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<VecDeque<(Arc<Mark>, Duration)>>);

/// A turn to queue work, which others wait for.
pub(crate) struct Turn<'a> {
    queued: MutexGuard<'a, VecDeque<(Arc<Mark>, Duration)>>,
    time: Duration,
}

impl Turn<'_> {
    /// Notes where the work ends.
    pub fn ends(mut self, mark: Arc<Mark>) {
        self.queued.push_back((mark, self.time));
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
        let mut queued = lock(&self.0);
        while !queued.is_empty() && queued.iter().map(|(_, time)| *time).sum::<Duration>() + time > MOST {
            if let Some((mark, _)) = queued.pop_front() {
                wait_until(&mark)?;
            }
        }
        Ok(Some(Turn { queued, time }))
    }
}
