//! Waiting for what a stream has queued, and long uploads, unless the caller aborts.
#![warn(clippy::arithmetic_side_effects)]

use std::time::{Duration, Instant};

use super::pace::Turn;
use super::{Abort, Buffer, Device, Driver, EventHandle, HostBuffer, Mark, Stream, check_abort};
use crate::{Error, Result};

/// Pause between two looks at a running queue: short against a kernel, long against a look.
const POLL: Duration = Duration::from_micros(50);

/// So long a look follows the last at once: what ends sooner would wait for most of a pause.
const AT_ONCE: Duration = Duration::from_micros(200);

/// Bytes of an upload between two questions to the hook: some milliseconds.
pub(crate) const UPLOAD_PIECE: usize = 64 << 20;

impl Device {
    /// A turn to queue work of so long on one of its streams, where somebody may abort: after as much of what was queued
    /// before as an abort must not wait for.
    ///
    /// # Errors
    /// The hook aborted, or the driver failed.
    pub(crate) fn pace(&self, stream: &Stream, time: Duration, abort: Abort<'_>) -> Result<Option<Turn<'_>>> {
        let units = self.info().compute_units;
        self.pace.turn(units, time, abort, |mark| stream.wait_until(mark, abort))
    }
}

impl Stream {
    /// Like [`Stream::upload_at`], asking `abort` before every piece.
    ///
    /// # Errors
    /// [`Error::Aborted`], or as [`Stream::upload_at`].
    pub(crate) fn upload_unless(&mut self, to: &Buffer, offset: usize, from: &[u8], abort: Abort<'_>) -> Result<()> {
        self.check_range("upload", to, offset, from.len())?;
        for (number, piece) in from.chunks(UPLOAD_PIECE).enumerate() {
            check_abort(abort)?;
            self.upload_at(to, offset.saturating_add(number.saturating_mul(UPLOAD_PIECE)), piece)?;
        }
        Ok(())
    }

    /// Waits on the host until a mark has been passed, asking `abort` meanwhile.
    ///
    /// # Errors
    /// [`Error::Aborted`], or the driver failed.
    pub fn wait_until(&self, mark: &Mark, abort: Abort<'_>) -> Result<()> {
        let driver = &*mark.core.shared.driver;
        let result = match abort {
            Some(abort) => poll(driver, mark.event, abort),
            // SAFETY: the event is live.
            None => unsafe { driver.event_synchronize(mark.event) },
        };
        if matches!(result, Ok(()) | Err(Error::Aborted)) {
            mark.core.pass(mark.number);
        }
        result
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
        let number = self.core.next_event();
        let result = match abort {
            Some(abort) => poll(driver, end, abort),
            // SAFETY: the event is live.
            None => unsafe { driver.event_synchronize(end) },
        };
        // SAFETY: the event is live and not used again.
        unsafe { driver.event_free(end) };
        let passed = matches!(result, Ok(()) | Err(Error::Aborted));
        if passed {
            self.core.pass(number);
            self.kept.clear();
        }
        for (start, end) in std::mem::take(&mut self.spans) {
            // SAFETY: both events are live, not used again, and passed where they are compared.
            let seconds = unsafe {
                let seconds = if passed { self.core.shared.driver.event_elapsed(start, end) } else { Ok(0.0) };
                self.free_events([start, end]);
                seconds
            };
            let time = Duration::try_from_secs_f64(seconds.unwrap_or(0.0).max(0.0)).unwrap_or_default();
            self.traffic.kernels = self.traffic.kernels.saturating_add(time);
        }
        result
    }

    /// Waits until a kernel has written a number to a host buffer's first word. What it wrote there before may be read then,
    /// while the stream goes on.
    ///
    /// # Errors
    /// As [`Self::wait`], or the kernel ended without a word.
    pub(crate) fn wait_for_word(&mut self, from: &HostBuffer, number: u32, abort: Abort<'_>) -> Result<()> {
        self.note_written(from.bytes());
        let start = Instant::now();
        while from.told() != number {
            if start.elapsed() > AT_ONCE {
                self.wait(abort)?;
                return if from.told() == number { Ok(()) } else { Err(Error::lost("a kernel's word")) };
            }
            std::hint::spin_loop();
        }
        check_abort(abort)
    }
}

/// Waits until the queue has passed `end`, a live event of `driver`, asking `abort` meanwhile.
fn poll(driver: &dyn Driver, end: EventHandle, abort: &(dyn Fn() -> bool + Send + Sync)) -> Result<()> {
    let mut aborted = false;
    let start = Instant::now();
    let mut asked = start;
    // SAFETY: the event is live.
    while !unsafe { driver.event_passed(end)? } {
        // The hook may cost a system call (bellperson tries a file lock): ask every millisecond.
        if !aborted && asked.elapsed() > Duration::from_millis(1) {
            aborted = abort();
            asked = Instant::now();
        }
        if start.elapsed() < AT_ONCE { std::hint::spin_loop() } else { std::thread::sleep(POLL) }
    }
    if aborted { Err(Error::Aborted) } else { check_abort(Some(abort)) }
}
