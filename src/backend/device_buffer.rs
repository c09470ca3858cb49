//! Device memory that goes back to the pool.

use std::sync::Arc;

use super::MemoryHandle;
use super::access_history::AccessHistory;
use super::allocator::DeviceAllocator;
use super::pool::Block;
use super::stream_inner::{Sensitivity, StreamInner};

/// Owns device memory that a stream took from the pool; gives it back when dropped.
///
/// Streams order reuse: the next owner's commands queue behind the last owner's, or wait for them. Commands that safe
/// functions queue on other streams are recorded; writes wait for them, and so does the next owner.
#[derive(Debug)]
pub struct Buffer {
    pub(super) memory: MemoryHandle,
    bytes: usize,
    place: Block,
    contents: Sensitivity,
    home: Arc<StreamInner>,
    pub(super) uses: AccessHistory,
}

impl Buffer {
    pub(super) fn new(
        (memory, place): (MemoryHandle, Block),
        bytes: usize,
        contents: Sensitivity,
        home: Arc<StreamInner>,
    ) -> Self {
        let uses = AccessHistory::by_owner(&home);
        Self { memory, bytes, place, contents, home, uses }
    }

    /// Marks the contents as secret: they are cleared before the memory gets another owner.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.contents = Sensitivity::Secret;
        self
    }

    /// Returns the requested size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the backend's handle, for kernel arguments.
    pub fn handle(&self) -> MemoryHandle {
        self.memory
    }

    pub(super) fn shared(&self) -> &Arc<DeviceAllocator> {
        &self.home.shared
    }

    /// Returns the bytes that the buffer occupies in device memory.
    pub(super) fn capacity(&self) -> usize {
        self.place.bytes
    }

    pub(super) fn is_secret(&self) -> bool {
        self.contents != Sensitivity::Plain
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.uses.release_to(&self.home);
        self.home.release(self.memory, self.place, self.contents);
    }
}
