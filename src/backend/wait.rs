//! Waiting for what a stream has queued, and long uploads, unless the caller aborts.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Buffer, EventHandle, Mark, Stream, lock};
use crate::{Error, Result};

/// The caller's question "stop now?", asked at least every few milliseconds.
pub type Abort<'a> = Option<&'a (dyn Fn() -> bool + Send + Sync)>;

/// Pause between two looks at a running queue: short against a kernel, long against a look.
const POLL: Duration = Duration::from_micros(50);

/// Bytes of an upload between two questions to the hook: some milliseconds.
pub(crate) const UPLOAD_PIECE: usize = 64 << 20;

/// An error if the hook says stop.
///
/// # Errors
/// [`Error::Aborted`].
pub(crate) fn check_abort(abort: Abort<'_>) -> Result<()> {
    if abort.is_some_and(|abort| abort()) { Err(Error::Aborted) } else { Ok(()) }
}

/// Does work with a hook whose panic ends the work as an abort does, and goes on here once the work has ended: so inputs are
/// as they were, and devices in order. All that takes a hook of a caller's asks it through this.
///
/// # Errors
/// Those of the work.
///
/// # Panics
/// The hook panicked.
pub fn guarded<T>(abort: Abort<'_>, work: impl FnOnce(Abort<'_>) -> Result<T>) -> Result<T> {
    let Some(hook) = abort else { return work(None) };
    let panicked = Mutex::new(None);
    let keep = |panic| {
        lock(&panicked).get_or_insert(panic);
        true
    };
    // A hook that panicked is not asked again.
    let has_panicked = || lock(&panicked).is_some();
    let ask = || has_panicked() || catch_unwind(AssertUnwindSafe(hook)).unwrap_or_else(keep);
    let result = work(Some(&ask));
    let panicked = panicked.into_inner().unwrap_or_else(PoisonError::into_inner);
    panicked.map_or(result, |panic| resume_unwind(panic))
}

impl Stream {
    /// Like [`Stream::upload_at`], asking `abort` before every piece.
    ///
    /// # Errors
    /// [`Error::Aborted`], or as [`Stream::upload_at`].
    pub(crate) fn upload_unless(&mut self, to: &Buffer, offset: usize, from: &[u8], abort: Abort<'_>) -> Result<()> {
        for (number, piece) in from.chunks(UPLOAD_PIECE).enumerate() {
            check_abort(abort)?;
            self.upload_at(to, offset + number * UPLOAD_PIECE, piece)?;
        }
        Ok(())
    }

    /// Waits on the host until a mark has been passed, asking `abort` meanwhile.
    ///
    /// # Errors
    /// [`Error::Aborted`], or the driver failed.
    pub fn wait_until(&self, mark: &Mark, abort: Abort<'_>) -> Result<()> {
        match abort {
            Some(abort) => self.poll(mark.event, abort),
            // SAFETY: the event is live.
            None => unsafe { self.core.shared.driver.event_synchronize(mark.event) },
        }
    }

    /// Waits for all that is queued, asking `abort` meanwhile, and reads the spans' times.
    ///
    /// After an abort it still waits for what was queued, since that cannot be taken back; callers that are given a hook
    /// bound what they queue to some 50 ms, for all streams of a device together (`Device::pace`).
    ///
    /// # Errors
    /// [`Error::Aborted`], or the driver failed.
    pub fn wait(&mut self, abort: Abort<'_>) -> Result<()> {
        let driver = &*self.core.shared.driver;
        // SAFETY: the handle is live.
        let end = unsafe { driver.event_record(self.core.handle)? };
        let result = match abort {
            Some(abort) => self.poll(end, abort),
            // SAFETY: the event is live.
            None => unsafe { driver.event_synchronize(end) },
        };
        // SAFETY: the event is live and not used again.
        unsafe { driver.event_free(end) };
        let passed = matches!(result, Ok(()) | Err(Error::Aborted));
        if passed {
            self.kept.clear();
        }
        for (start, end) in std::mem::take(&mut self.spans) {
            // SAFETY: both events are live, not used again, and passed where they are compared.
            let seconds = unsafe {
                let seconds = if passed { self.core.shared.driver.event_elapsed(start, end) } else { Ok(0.0) };
                self.free_events([start, end]);
                seconds
            };
            self.traffic.kernels += Duration::from_secs_f64(seconds.unwrap_or(0.0).max(0.0));
        }
        result
    }

    fn poll(&self, end: EventHandle, abort: &(dyn Fn() -> bool + Send + Sync)) -> Result<()> {
        let driver = &*self.core.shared.driver;
        let mut aborted = false;
        let mut asked = Instant::now();
        // SAFETY: the event is live.
        while !unsafe { driver.event_passed(end)? } {
            // The hook may cost a system call (bellperson tries a file lock): ask every millisecond.
            if !aborted && asked.elapsed() > Duration::from_millis(1) {
                aborted = abort();
                asked = Instant::now();
            }
            std::thread::sleep(POLL);
        }
        if aborted { Err(Error::Aborted) } else { check_abort(Some(abort)) }
    }
}
