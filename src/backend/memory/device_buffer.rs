//! Device memory that goes back to the pool.

use std::sync::Arc;

use super::access_history::AccessHistory;
use super::device_memory_state::DeviceAllocator;
use super::pool::Block;
use crate::backend::MemoryHandle;
use crate::backend::stream::{Sensitivity, StreamInner};

/// Owns device memory that a stream allocated. The memory goes back to the device's pool when this is dropped.
///
/// If another stream reuses the memory, its commands run after those of the last owner. Commands that safe functions
/// queue on other streams are recorded. Later writes wait for recorded commands, and so does the next owner.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) memory: MemoryHandle,
    bytes: usize,
    place: Block,
    contents: Sensitivity,
    home: Arc<StreamInner>,
    pub(crate) uses: AccessHistory,
}

impl Buffer {
    pub(crate) fn new(
        (memory, place): (MemoryHandle, Block),
        bytes: usize,
        contents: Sensitivity,
        home: Arc<StreamInner>,
    ) -> Self {
        let uses = AccessHistory::with_owner(&home);
        Self { memory, bytes, place, contents, home, uses }
    }

    /// Marks the contents as secret, so that they are cleared before the memory gets another owner.
    #[must_use]
    pub fn mark_secret(mut self) -> Self {
        self.contents = Sensitivity::Secret;
        self
    }

    /// Returns the size in bytes that was requested.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the backend's handle of the memory, for kernel arguments.
    pub fn handle(&self) -> MemoryHandle {
        self.memory
    }

    pub(crate) fn allocator(&self) -> &Arc<DeviceAllocator> {
        &self.home.shared
    }

    /// Returns the bytes that the buffer occupies in device memory, which may exceed the requested size.
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.place.bytes
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.contents != Sensitivity::Plain
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.uses.release_to_owner(&self.home);
        self.home.release_block(self.memory, self.place, self.contents);
    }
}
