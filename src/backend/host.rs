//! Page-locked host memory that goes back to its stream's pool.

use std::sync::Arc;

use super::Pinned;
use super::core::StreamCore;
use super::staging::{parallel_clear, parallel_move};

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

    fn contents(&mut self) -> &mut [u8] {
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
