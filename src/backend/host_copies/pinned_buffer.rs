//! Pinned host memory that returns to its stream when dropped.
#![warn(clippy::arithmetic_side_effects)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::parallel_nontemporal_copy::{par_move_and_zeroize, par_zero_nontemporal};
use super::staging::SLOT_BYTES;
use crate::backend::memory::AccessHistory;
use crate::backend::stream::StreamInner;
use crate::backend::{MemoryHandle, PinnedAlloc};
use crate::{Error, Result};

/// Maximum bytes of an upload's part, 4 MiB. A part is copied to the device as soon as it is in the pinned buffer.
pub(crate) const PART_BYTES: usize = SLOT_BYTES;

/// Holds pinned (page-locked) host memory that receives results before the caller's memory is written. It is cleared
/// when dropped, since results may be secret.
///
/// Copies that [`Stream::copy_to_pinned`](crate::backend::Stream::copy_to_pinned) queues on any stream are recorded. The host
/// reads, writes or releases the memory only once they have run.
#[derive(Debug)]
pub struct PinnedBuffer {
    pub(crate) pinned: PinnedAlloc,
    bytes: usize,
    /// Number of leading bytes that are already zero.
    clean: usize,
    home: Arc<StreamInner>,
    pub(crate) uses: AccessHistory,
}

impl PinnedBuffer {
    pub(crate) fn new(pinned: PinnedAlloc, bytes: usize, home: Arc<StreamInner>) -> Self {
        let uses = AccessHistory::with_owner(&home);
        Self { pinned, bytes, clean: 0, home, uses }
    }

    /// Returns the size in bytes that was requested.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves the contents to `to` with all cores, once queued copies have run. Moves as many bytes as the shorter of
    /// the two holds, and clears them here.
    pub fn drain_into(mut self, to: &mut [u8]) {
        let bytes = self.bytes.min(to.len());
        par_move_and_zeroize(&mut to[..bytes], &mut self.as_mut_slice()[..bytes]);
        self.clean = bytes;
    }

    /// Splits the first `bytes` of the memory into parts of at most `PART_BYTES`, in order.
    pub(crate) fn chunks(&mut self, bytes: usize) -> Result<impl Iterator<Item = PinnedAlloc>> {
        if bytes > self.bytes {
            return Err(Error::invalid("host buffer", "bytes", format!("at most {}", self.bytes), bytes));
        }
        let whole = self.pinned;
        Ok((0..bytes).step_by(PART_BYTES).map(move |start| PinnedAlloc {
            pointer: whole.pointer.wrapping_add(start),
            bytes: PART_BYTES.min(bytes.saturating_sub(start)),
            ..whole
        }))
    }

    /// Returns the address of byte `offset` as kernels take it. `None` if kernels cannot write to pinned memory, or if
    /// `offset` is not inside the buffer.
    pub(crate) fn kernel_handle(&self, offset: usize) -> Option<MemoryHandle> {
        let inside = self.home.shared.driver.info().caps.mapped_host_memory && offset < self.bytes;
        inside.then(|| MemoryHandle((self.pinned.pointer as usize).wrapping_add(offset)))
    }

    /// Reads the first 32-bit word, to which a kernel may write concurrently.
    pub(crate) fn read_signal(&self) -> u32 {
        // SAFETY: the memory is at least a granule long, and begins on a page; it lives as long as `self`.
        unsafe { AtomicU32::from_ptr(self.pinned.pointer.cast()) }.load(Ordering::Acquire)
    }

    /// Waits for queued copies, and returns all bytes for reading.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.uses.synchronize();
        // SAFETY: as in `as_mut_slice`; a further copy into the memory takes a mutable reference.
        unsafe { std::slice::from_raw_parts(self.pinned.pointer, self.bytes) }
    }

    /// Waits for queued copies, and returns all bytes for writing.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        self.uses.synchronize();
        // SAFETY: the memory is `self.bytes` long, initialised by the driver or a copy, and exclusively ours. Copies
        // from or into it have run. Callers that launch kernels which write to it (`kernel_handle`) wait for these.
        unsafe { std::slice::from_raw_parts_mut(self.pinned.pointer, self.bytes) }
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        self.home.synchronize();
        self.uses.synchronize();
        // SAFETY: the memory is `self.bytes` long and exclusively ours, since copies from or into it have run.
        let memory = unsafe { std::slice::from_raw_parts_mut(self.pinned.pointer.cast(), self.bytes) };
        par_zero_nontemporal(vec![&mut memory[self.clean..]]);
        self.home.release_pinned(self.pinned);
    }
}
