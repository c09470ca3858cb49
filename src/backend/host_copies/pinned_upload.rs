//! Uploads through pinned host memory that the caller keeps.
#![warn(clippy::arithmetic_side_effects)]

use std::time::Instant;

use super::parallel_nontemporal_copy::{CopyTasks, copy_nontemporal};
use super::pinned_buffer::PART_BYTES;
use crate::Result;
use crate::backend::{Abort, Buffer, PinnedAlloc, PinnedBuffer, Stream, check_abort};
use crate::rayon_waits::in_place_scope;

/// Maximum bytes that a copy from pinned memory queues between two abort checks, 512 MiB.
const SENT_BYTES: usize = 512 << 20;
/// Maximum number of parts that tasks copy at a time, 8, so that copies of other streams get their turn.
const PARTS: usize = 8;

impl Stream {
    /// Queues a copy of all of `from` to the start of `to`, directly from the pinned memory. Later writes to `from`
    /// wait for the copy.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): `from` is larger than `to`.
    /// - [`Error::Invalid`](crate::Error::Invalid): `to` is of another device.
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub(crate) fn copy_from_pinned(&mut self, to: &Buffer, from: &PinnedBuffer) -> Result<()> {
        self.copy_from_pinned_abortable(to, 0, from, None)
    }

    /// Queues a copy of all of `from` to `to`, from byte `offset` on, directly from the pinned memory. With a hook,
    /// it calls `abort` before each piece of `SENT_BYTES`, and waits for all pieces but the last.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): `abort` asked to stop.
    /// - [`Error::Invalid`](crate::Error::Invalid): the range is not inside `to`.
    /// - [`Error::Invalid`](crate::Error::Invalid): `to` is of another device.
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub(crate) fn copy_from_pinned_abortable(
        &mut self,
        to: &Buffer,
        offset: usize,
        from: &PinnedBuffer,
        abort: Abort<'_>,
    ) -> Result<()> {
        self.check_range("send", to, offset, from.bytes())?;
        from.uses.order_read(&self.core)?;
        to.uses.order_write(&self.core)?;
        for start in (0..from.bytes()).step_by(SENT_BYTES) {
            check_abort(abort)?;
            if start > 0 && abort.is_some() {
                self.synchronize(abort)?;
            }
            let (part, bytes) =
                (from.pinned.pointer.wrapping_add(start), SENT_BYTES.min(from.bytes().saturating_sub(start)));
            let driver = &*self.core.shared.driver;
            // SAFETY: the range was checked; the host buffer has recorded the copies, and waits for them before it is
            // written or freed.
            unsafe { driver.copy_h2d(self.core.handle, to.memory, offset.saturating_add(start), part, bytes)? };
            self.traffic.count_upload(bytes);
        }
        Ok(())
    }

    /// Copies `from` into the pinned buffer `kept`, which is at least as long, and from there to the start of `to`.
    /// Copies part by part, and calls the hook `abort` before each part. Returns once `from` has been read. The last
    /// copies may still run on the stream. After an error some parts may be in neither buffer.
    ///
    /// # Errors
    /// - [`Error::Aborted`](crate::Error::Aborted): `abort` asked to stop.
    /// - [`Error::Invalid`](crate::Error::Invalid): `to` is smaller than `from`.
    /// - [`Error::Invalid`](crate::Error::Invalid): `kept` is smaller than `from`.
    /// - [`Error::Invalid`](crate::Error::Invalid): `to` is of another device.
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub(crate) fn upload_via_pinned(
        &mut self,
        to: &Buffer,
        kept: &mut PinnedBuffer,
        from: &[u8],
        abort: Abort<'_>,
    ) -> Result<()> {
        self.check_range("upload", to, 0, from.len())?;
        kept.uses.synchronize();
        kept.uses.order_write(&self.core)?;
        to.uses.order_write(&self.core)?;
        let start = Instant::now();
        let (driver, stream) = (&*self.core.shared.driver, self.core.handle);
        let queue = |number: usize, part: PinnedAlloc| {
            check_abort(abort)?;
            // SAFETY: the range was checked, and the host buffer waits for the stream before it goes.
            unsafe { driver.copy_h2d(stream, to.memory, number.saturating_mul(PART_BYTES), part.pointer, part.bytes) }
        };
        let copies = CopyTasks::new();
        let result = in_place_scope(|scope| {
            let parts = from.chunks(PART_BYTES).zip(kept.chunks(from.len())?);
            parts.enumerate().try_for_each(|(number, (part, kept))| {
                if number >= PARTS {
                    copies.wait_next_result()??;
                }
                // SAFETY: nothing else uses the part until the scope has ended.
                let to = unsafe { std::slice::from_raw_parts_mut(kept.pointer, kept.bytes) };
                copies.spawn_copy(scope, (to, part, copy_nontemporal), move || queue(number, kept));
                Ok(())
            })
        });
        self.traffic.count_upload(from.len());
        self.traffic.add_upload_time(start);
        copies.remaining_results().fold(result, Result::and)
    }
}
