//! Page-locked host memory that goes back to its stream's pool.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::core::StreamCore;
use super::staging::{parallel_clear, parallel_move};
use super::{Buffer, Pinned, Stream};
use crate::Result;

/// Bytes that one task of an exchange takes: large enough to pay for the task.
const SWAP_GRAIN: usize = 128 << 10;
/// Bytes up to which one core is done before others have woken up.
const ALONE_BYTES: usize = 1 << 20;

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

    /// Exchanges the contents from `offset` on with all of `other`, with all cores. The copies into that range must
    /// have been waited for.
    ///
    /// # Panics
    /// The range ends outside.
    pub(crate) fn exchange(&mut self, offset: usize, other: &mut [u8]) {
        assert!(offset <= self.bytes && other.len() <= self.bytes - offset, "an exchange outside of the buffer");
        // SAFETY: as in `contents`, for a range that was checked: copies into others may be under way.
        let range = unsafe { std::slice::from_raw_parts_mut(self.pinned.pointer.add(offset), other.len()) };
        parallel_swap(range, other);
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
        parallel_clear(&mut self.contents()[clean..]);
        self.home.give_back_pinned(self.pinned);
    }
}

/// Exchanges the contents of slices of equal length, with all cores.
pub(crate) fn parallel_swap(ours: &mut [u8], theirs: &mut [u8]) {
    if ours.len() <= ALONE_BYTES {
        return ours.swap_with_slice(theirs);
    }
    let grains = ours.par_chunks_mut(SWAP_GRAIN).zip(theirs.par_chunks_mut(SWAP_GRAIN));
    grains.for_each(|(ours, theirs)| ours.swap_with_slice(theirs));
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

    /// Queues a copy of a range of a buffer to the same place of a host buffer; it is there once the stream has
    /// passed a mark set after this.
    ///
    /// # Errors
    /// The range is not inside both, or the driver failed.
    pub(crate) fn fetch_range(&mut self, to: &HostBuffer, from: &Buffer, range: Range<usize>) -> Result<()> {
        self.check_range("fetch", from, range.start, range.len())?;
        if range.end > to.bytes {
            let expected = format!("within {} bytes", to.bytes);
            return Err(crate::Error::invalid("fetch", "range", expected, format!("{range:?}")));
        }
        self.traffic.bytes_down += range.len() as u64;
        let driver = &*self.core.shared.driver;
        // SAFETY: the range was checked, and the host buffer waits for the stream before it goes.
        unsafe {
            let to = to.pinned.pointer.add(range.start);
            driver.copy_out(self.core.handle, to, from.memory, range.start, range.len())
        }
    }
}
