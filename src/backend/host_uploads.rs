//! Uploads through page-locked host memory that the caller keeps.

use std::time::Instant;

use super::copies::Copies;
use super::host::PART_BYTES;
use super::past_cache::copy_past_cache;
use super::{Abort, Buffer, HostBuffer, Pinned, Stream, check_abort};
use crate::Result;
use crate::waiting::in_place_scope;

/// Parts that tasks copy at a time, so that those of another stream get their turn.
const PARTS: usize = 8;

impl Stream {
    /// Queues a copy of all of a host buffer to the start of a buffer, without staging. `from` must stay as it is
    /// until the copy has been waited for.
    ///
    /// # Errors
    /// The host buffer is larger, or the driver failed.
    pub(crate) fn send(&mut self, to: &Buffer, from: &HostBuffer) -> Result<()> {
        self.check_range("send", to, 0, from.bytes())?;
        self.traffic.bytes_up += from.bytes() as u64;
        let driver = &*self.core.shared.driver;
        // SAFETY: the range was checked, and the host buffer stays until the copy has been waited for.
        unsafe { driver.copy_in(self.core.handle, to.memory, 0, from.pinned.pointer, from.bytes()) }
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
        let start = Instant::now();
        let (driver, stream) = (&*self.core.shared.driver, self.core.handle);
        let queue = |number: usize, part: Pinned| {
            check_abort(abort)?;
            // SAFETY: the range was checked, and the host buffer waits for the stream before it goes.
            unsafe { driver.copy_in(stream, to.memory, number * PART_BYTES, part.pointer, part.bytes) }
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
        self.traffic.bytes_up += from.len() as u64;
        self.traffic.upload += start.elapsed();
        copies.rest().fold(result, Result::and)
    }
}
