//! Uploads through page-locked host memory that the caller keeps.
#![warn(clippy::arithmetic_side_effects)]

use std::time::Instant;

use super::copies::Copies;
use super::host::PART_BYTES;
use super::past_cache::copy_past_cache;
use super::{Abort, Buffer, HostBuffer, Pinned, Stream, check_abort};
use crate::Result;
use crate::waiting::in_place_scope;

/// Bytes of a copy that a hook is not asked during.
const SENT_BYTES: usize = 512 << 20;
/// Parts that tasks copy at a time, so that those of another stream get their turn.
const PARTS: usize = 8;

impl Stream {
    /// Queues a copy of all of a host buffer to the start of a buffer, without staging. Writing to `from` waits for the copy.
    ///
    /// # Errors
    /// The host buffer is larger, or the driver failed.
    pub(crate) fn send(&mut self, to: &Buffer, from: &HostBuffer) -> Result<()> {
        self.send_unless(to, 0, from, None)
    }

    /// The same from a byte of the buffer on; with a hook, which is asked meanwhile, only the last part is still under way.
    ///
    /// # Errors
    /// [`Error::Aborted`], or as [`Stream::send`].
    pub(crate) fn send_unless(
        &mut self,
        to: &Buffer,
        offset: usize,
        from: &HostBuffer,
        abort: Abort<'_>,
    ) -> Result<()> {
        self.check_range("send", to, offset, from.bytes())?;
        from.uses.read(&self.core)?;
        to.uses.write(&self.core)?;
        for start in (0..from.bytes()).step_by(SENT_BYTES) {
            check_abort(abort)?;
            if start > 0 && abort.is_some() {
                self.wait(abort)?;
            }
            let (part, bytes) =
                (from.pinned.pointer.wrapping_add(start), SENT_BYTES.min(from.bytes().saturating_sub(start)));
            let driver = &*self.core.shared.driver;
            // SAFETY: the range was checked; the host buffer has recorded the copies, and waits for them before it is written or
            // freed.
            unsafe { driver.copy_in(self.core.handle, to.memory, offset.saturating_add(start), part, bytes)? };
            self.traffic.count_up(bytes);
        }
        Ok(())
    }

    /// Copies host memory into a host buffer of its length, and from there to the start of a buffer, part by part, asking
    /// `abort` before each. Returns once `from` has been read; the last copies may still be under way on the stream. After
    /// an error some parts are in neither.
    ///
    /// # Errors
    /// [`Error::Aborted`], the buffer is smaller, or the driver failed.
    pub(crate) fn upload_keeping(
        &mut self,
        to: &Buffer,
        kept: &mut HostBuffer,
        from: &[u8],
        abort: Abort<'_>,
    ) -> Result<()> {
        self.check_range("upload", to, 0, from.len())?;
        kept.uses.synchronize();
        kept.uses.write(&self.core)?;
        to.uses.write(&self.core)?;
        let start = Instant::now();
        let (driver, stream) = (&*self.core.shared.driver, self.core.handle);
        let queue = |number: usize, part: Pinned| {
            check_abort(abort)?;
            // SAFETY: the range was checked, and the host buffer waits for the stream before it goes.
            unsafe { driver.copy_in(stream, to.memory, number.saturating_mul(PART_BYTES), part.pointer, part.bytes) }
        };
        let copies = Copies::new();
        let result = in_place_scope(|scope| {
            let parts = from.chunks(PART_BYTES).zip(kept.parts(from.len())?);
            parts.enumerate().try_for_each(|(number, (part, kept))| {
                if number >= PARTS {
                    copies.next()??;
                }
                // SAFETY: nobody else has the part until the scope has ended.
                let to = unsafe { std::slice::from_raw_parts_mut(kept.pointer, kept.bytes) };
                copies.spawn(scope, (to, part, copy_past_cache), move || queue(number, kept));
                Ok(())
            })
        });
        self.traffic.count_up(from.len());
        self.traffic.time_upload(start);
        copies.rest().fold(result, Result::and)
    }
}
