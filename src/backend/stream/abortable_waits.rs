//! Waits for queued commands, and makes long uploads, unless the caller aborts.
#![warn(clippy::arithmetic_side_effects)]

use std::time::{Duration, Instant};

use super::queued_time_limit::QueuePermit;
use crate::backend::{Abort, Buffer, Device, Driver, Event, EventHandle, PinnedBuffer, Stream, check_abort};
use crate::{Error, Result};

/// Pause between two queries of an unfinished event, 50 µs: short against a kernel, long against a query.
const POLL: Duration = Duration::from_micros(50);

/// Time for which a wait polls without pauses, 200 µs. With pauses, shorter work would wait for most of a pause.
const SPIN_FOR: Duration = Duration::from_micros(200);

/// Maximum bytes of an upload between two abort checks, 64 MiB: a copy of a few milliseconds.
pub(crate) const ABORT_CHECK_BYTES: usize = 64 << 20;

impl Device {
    /// Waits until at most 50 ms of work is queued on the device, including new work that takes the estimated `time`.
    /// Then returns a permit to queue the new work. `time` is an estimate for an H200, which is scaled to the device.
    /// Returns `None` at once if there is no hook, or if the work takes less than 1 ms.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: `abort` asked to stop.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn acquire_queue_permit(
        &self,
        stream: &Stream,
        time: Duration,
        abort: Abort<'_>,
    ) -> Result<Option<QueuePermit<'_>>> {
        let units = self.info().compute_units;
        self.pace.acquire(units, time, abort, |mark| stream.synchronize_event(mark, abort))
    }
}

impl Stream {
    /// Copies `from` into the buffer `to`, from byte `offset` on, through pinned staging memory. Calls the hook
    /// `abort` before every 64 MiB.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: `abort` asked to stop.
    /// - [`Error::Invalid`]: the range is not inside the buffer.
    /// - [`Error::Invalid`]: the buffer is of another device.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn upload_abortable(&mut self, to: &Buffer, offset: usize, from: &[u8], abort: Abort<'_>) -> Result<()> {
        self.check_range("upload", to, offset, from.len())?;
        for (number, piece) in from.chunks(ABORT_CHECK_BYTES).enumerate() {
            check_abort(abort)?;
            self.upload_at(to, offset.saturating_add(number.saturating_mul(ABORT_CHECK_BYTES)), piece)?;
        }
        Ok(())
    }

    /// Waits on the host until the device has passed `mark`, calling the hook `abort` meanwhile. An abort does not
    /// shorten the wait.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: `abort` asked to stop.
    /// - [`Error::Device`]: the driver failed.
    pub fn synchronize_event(&self, mark: &Event, abort: Abort<'_>) -> Result<()> {
        let driver = &*mark.core.shared.driver;
        let result = match abort {
            Some(abort) => poll_event_abortable(driver, mark.handle, abort),
            // SAFETY: the event is live.
            None => unsafe { driver.event_synchronize(mark.handle) },
        };
        if matches!(result, Ok(()) | Err(Error::Aborted)) {
            mark.core.record_passed_event(mark.number);
        }
        result
    }

    /// Waits until all queued commands have run, calling the hook `abort` meanwhile. Then adds the times of finished
    /// timing spans to the statistics.
    ///
    /// After an abort it still waits for queued commands, since these cannot be cancelled. Callers that take a hook
    /// therefore limit the queued work to about 50 ms for all streams of a device together (`Device::pace`).
    ///
    /// # Errors
    /// - [`Error::Aborted`]: `abort` asked to stop.
    /// - [`Error::Device`]: the driver failed.
    pub fn synchronize(&mut self, abort: Abort<'_>) -> Result<()> {
        let driver = &*self.core.shared.driver;
        // SAFETY: the handle is live.
        let end = unsafe { driver.event_record(self.core.handle)? };
        let number = self.core.next_event_number();
        let result = match abort {
            Some(abort) => poll_event_abortable(driver, end, abort),
            // SAFETY: the event is live.
            None => unsafe { driver.event_synchronize(end) },
        };
        // SAFETY: the event is live and not used again.
        unsafe { driver.event_free(end) };
        let passed = matches!(result, Ok(()) | Err(Error::Aborted));
        if passed {
            self.core.record_passed_event(number);
            self.kept.clear();
        }
        for (start, end) in std::mem::take(&mut self.spans) {
            // SAFETY: both events are live, not used again, and passed if they are compared.
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

    /// Waits until a kernel has written `number` to the first 32-bit word of `from`. The host may then read the
    /// values that the kernel wrote to `from` before, while the stream goes on.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: `abort` asked to stop.
    /// - [`Error::Device`]: the driver failed.
    /// - [`Error::Device`]: the kernel ended without writing the number.
    pub(crate) fn wait_for_signal(&mut self, from: &PinnedBuffer, number: u32, abort: Abort<'_>) -> Result<()> {
        self.count_downloaded_bytes(from.bytes());
        let start = Instant::now();
        while from.read_signal() != number {
            if start.elapsed() > SPIN_FOR {
                self.synchronize(abort)?;
                return if from.read_signal() == number { Ok(()) } else { Err(Error::internal("a kernel's word")) };
            }
            std::hint::spin_loop();
        }
        check_abort(abort)
    }
}

/// Waits until the queue has passed `end`, a live event of `driver`. Calls the hook `abort` about every millisecond
/// meanwhile, but returns its abort only after the wait.
fn poll_event_abortable(driver: &dyn Driver, end: EventHandle, abort: &(dyn Fn() -> bool + Send + Sync)) -> Result<()> {
    let mut aborted = false;
    let start = Instant::now();
    let mut asked = start;
    // SAFETY: the event is live.
    while !unsafe { driver.event_query(end)? } {
        // The hook may cost a system call (bellperson tries a file lock): ask every millisecond.
        if !aborted && asked.elapsed() > Duration::from_millis(1) {
            aborted = abort();
            asked = Instant::now();
        }
        if start.elapsed() < SPIN_FOR { std::hint::spin_loop() } else { std::thread::sleep(POLL) }
    }
    if aborted { Err(Error::Aborted) } else { check_abort(Some(abort)) }
}
