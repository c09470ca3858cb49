//! Page-locked host memory that goes back to its stream's pool.

use std::sync::Arc;
use std::time::Instant;

use super::copies::{Copies, clear_all_past_cache, parallel_move};
use super::core::StreamCore;
use super::past_cache::copy_past_cache;
use super::staging::SLOT_BYTES;
use super::{Abort, Buffer, Pinned, Stream, check_abort};
use crate::waiting::in_place_scope;
use crate::{Error, Result};

/// Bytes of a part of an upload, which is copied to the device once it is in the host buffer.
const PART_BYTES: usize = SLOT_BYTES;
/// Parts that tasks copy at a time, so that those of another stream get their turn.
const PARTS: usize = 8;

/// Page-locked host memory that results land in before the caller's memory is touched. Cleared when
/// dropped: results may be secret.
#[derive(Debug)]
pub struct HostBuffer {
    pub(super) pinned: Pinned,
    bytes: usize,
    /// Leading bytes that hold nothing any more.
    clean: usize,
    home: Arc<StreamCore>,
}

impl HostBuffer {
    pub(super) fn new(pinned: Pinned, bytes: usize, home: Arc<StreamCore>) -> Self {
        Self { pinned, bytes, clean: 0, home }
    }

    /// Size in bytes as asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves the contents out with all cores, as far as `to` reaches: what was copied is cleared here. The
    /// copies into this buffer must have been waited for.
    pub fn move_to(mut self, to: &mut [u8]) {
        let bytes = self.bytes.min(to.len());
        parallel_move(&mut to[..bytes], &mut self.contents()[..bytes]);
        self.clean = bytes;
    }

    /// The memory of its first `bytes` bytes, part by part.
    fn parts(&mut self, bytes: usize) -> Result<impl Iterator<Item = Pinned>> {
        if bytes > self.bytes {
            return Err(Error::invalid("host buffer", "bytes", format!("at most {}", self.bytes), bytes));
        }
        let whole = self.pinned;
        Ok((0..bytes).step_by(PART_BYTES).map(move |start| Pinned {
            pointer: whole.pointer.wrapping_add(start),
            bytes: PART_BYTES.min(bytes - start),
            ..whole
        }))
    }

    /// All bytes, to read. No copy into the buffer may be under way.
    pub(crate) fn bytes_of(&self) -> &[u8] {
        // SAFETY: as in `contents`.
        unsafe { std::slice::from_raw_parts(self.pinned.pointer, self.bytes) }
    }

    /// All bytes, to write. No copy from or into the buffer may be under way.
    pub(crate) fn contents(&mut self) -> &mut [u8] {
        // SAFETY: the memory is `self.bytes` long, initialised by the driver or a copy, and exclusively ours:
        // asynchronous copies into it are waited for before it is looked at, as documented, or in `drop`.
        unsafe { std::slice::from_raw_parts_mut(self.pinned.pointer, self.bytes) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        self.home.synchronize();
        let clean = self.clean;
        clear_all_past_cache(vec![&mut self.contents()[clean..]]);
        self.home.give_back_pinned(self.pinned);
    }
}

impl Stream {
    /// Queues a copy of all of a host buffer to the start of a buffer, without staging. `from` must stay as it is
    /// until the copy has been waited for.
    ///
    /// # Errors
    /// The host buffer is larger, or the driver failed.
    pub(crate) fn send(&mut self, to: &Buffer, from: &HostBuffer) -> Result<()> {
        self.check_range("send", to, 0, from.bytes)?;
        self.traffic.bytes_up += from.bytes as u64;
        let driver = &*self.core.shared.driver;
        // SAFETY: the range was checked, and the host buffer stays until the copy has been waited for.
        unsafe { driver.copy_in(self.core.handle, to.memory, 0, from.pinned.pointer, from.bytes) }
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
