//! Pinned host memory that returns to its stream when dropped.
#![warn(clippy::arithmetic_side_effects)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::copies::{clear_all_past_cache, parallel_move};
use super::core::StreamCore;
use super::staging::SLOT_BYTES;
use super::uses::Uses;
use super::{Arg, MemoryHandle, Pinned};
use crate::{Error, Result};

/// Bytes of an upload's part, which is copied to the device once it is in the host buffer.
pub(super) const PART_BYTES: usize = SLOT_BYTES;

/// Holds pinned host memory that receives results before the caller's memory is touched. It is cleared when dropped,
/// since results may be secret.
///
/// Copies that [`Stream::fetch`](super::Stream::fetch) queues on any stream are recorded. The host reads, writes or
/// gives back the memory only once they have run.
#[derive(Debug)]
pub struct HostBuffer {
    pub(super) pinned: Pinned,
    bytes: usize,
    /// Leading bytes that are already cleared.
    clean: usize,
    home: Arc<StreamCore>,
    pub(super) uses: Uses,
}

impl HostBuffer {
    pub(super) fn new(pinned: Pinned, bytes: usize, home: Arc<StreamCore>) -> Self {
        let uses = Uses::by_owner(&home);
        Self { pinned, bytes, clean: 0, home, uses }
    }

    /// Returns the requested size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves the contents to `to` with all cores, up to the length of `to`, once queued copies have run. Clears the
    /// moved bytes here.
    pub fn move_to(mut self, to: &mut [u8]) {
        let bytes = self.bytes.min(to.len());
        parallel_move(&mut to[..bytes], &mut self.contents()[..bytes]);
        self.clean = bytes;
    }

    /// Returns the memory of the first `bytes` bytes, in parts of at most `PART_BYTES`.
    pub(super) fn parts(&mut self, bytes: usize) -> Result<impl Iterator<Item = Pinned>> {
        if bytes > self.bytes {
            return Err(Error::invalid("host buffer", "bytes", format!("at most {}", self.bytes), bytes));
        }
        let whole = self.pinned;
        Ok((0..bytes).step_by(PART_BYTES).map(move |start| Pinned {
            pointer: whole.pointer.wrapping_add(start),
            bytes: PART_BYTES.min(bytes.saturating_sub(start)),
            ..whole
        }))
    }

    /// Returns the memory from byte `offset` on as a kernel argument, if kernels may write to it.
    pub(crate) fn on_device(&self, offset: usize) -> Option<Arg> {
        let inside = self.home.shared.driver.reaches_host() && offset < self.bytes;
        inside.then(|| Arg::Memory(MemoryHandle((self.pinned.pointer as usize).wrapping_add(offset))))
    }

    /// Reads the first word, which a kernel may write meanwhile.
    pub(super) fn told(&self) -> u32 {
        // SAFETY: the memory is at least a granule long, and begins on a page; it lives as long as `self`.
        unsafe { AtomicU32::from_ptr(self.pinned.pointer.cast()) }.load(Ordering::Acquire)
    }

    /// Waits for queued copies, and returns all bytes for reading.
    pub(crate) fn bytes_of(&self) -> &[u8] {
        self.uses.synchronize();
        // SAFETY: as in `contents`; a further copy into the memory takes a mutable reference.
        unsafe { std::slice::from_raw_parts(self.pinned.pointer, self.bytes) }
    }

    /// Waits for queued copies, and returns all bytes for writing.
    pub(crate) fn contents(&mut self) -> &mut [u8] {
        self.uses.synchronize();
        // SAFETY: the memory is `self.bytes` long, initialised by the driver or a copy, and exclusively ours. Copies
        // from or into it have run. Callers that launch kernels which write to it (`on_device`) wait for these.
        unsafe { std::slice::from_raw_parts_mut(self.pinned.pointer, self.bytes) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        self.home.synchronize();
        self.uses.synchronize();
        let clean = self.clean;
        clear_all_past_cache(vec![&mut self.contents()[clean..]]);
        self.home.give_back_pinned(self.pinned);
    }
}
