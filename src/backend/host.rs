//! Page-locked host memory that goes back to its stream's pool.

use std::sync::Arc;

use rayon::prelude::*;

use super::Pinned;
use super::core::StreamCore;
use super::staging::{COPY_GRAIN, parallel_copy};

/// Page-locked host memory that results land in before the caller's memory is touched. Cleared when
/// dropped: results may be secret.
#[derive(Debug)]
pub struct HostBuffer {
    pub(super) pinned: Pinned,
    bytes: usize,
    home: Arc<StreamCore>,
}

impl HostBuffer {
    pub(super) fn new(pinned: Pinned, bytes: usize, home: Arc<StreamCore>) -> Self {
        Self { pinned, bytes, home }
    }

    /// Size in bytes as asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies the contents out with all cores, as far as `to` reaches. The copies into this buffer
    /// must have been waited for.
    pub fn copy_to(&self, to: &mut [u8]) {
        let bytes = self.bytes.min(to.len());
        // SAFETY: the memory is at least `self.bytes` long, initialised by the driver or a copy, and
        // nobody writes to it while it is borrowed (asynchronous copies are waited for).
        let from = unsafe { std::slice::from_raw_parts(self.pinned.pointer, bytes) };
        parallel_copy(&mut to[..bytes], from);
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        self.home.synchronize();
        // SAFETY: nothing queued writes to the memory any more, and it is exclusively ours.
        let all = unsafe { std::slice::from_raw_parts_mut(self.pinned.pointer, self.bytes) };
        all.par_chunks_mut(COPY_GRAIN).for_each(|chunk| chunk.fill(0));
        self.home.give_back_pinned(self.pinned);
    }
}
