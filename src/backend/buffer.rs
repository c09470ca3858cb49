//! Device memory that goes back to its stream's pool.

use std::sync::Arc;

use super::MemoryHandle;
use super::core::{Contents, StreamCore};
use super::device::Shared;

/// Device memory taken from the pool of a stream, given back when dropped.
///
/// Reuse is ordered by the stream: the next owner's commands queue behind the last owner's. A buffer
/// that other streams use too must outlive their work; operations see to that by waiting before they
/// return.
#[derive(Debug)]
pub struct Buffer {
    pub(super) memory: MemoryHandle,
    bytes: usize,
    capacity: usize,
    contents: Contents,
    home: Arc<StreamCore>,
}

impl Buffer {
    pub(super) fn new(
        memory: MemoryHandle,
        bytes: usize,
        capacity: usize,
        contents: Contents,
        home: Arc<StreamCore>,
    ) -> Self {
        Self { memory, bytes, capacity, contents, home }
    }

    /// Marks the contents as secret: they are cleared before anyone else gets the memory.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.contents = Contents::Secret;
        self
    }

    /// Size in bytes as asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The backend's handle, for arguments of kernels.
    pub fn handle(&self) -> MemoryHandle {
        self.memory
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.home.shared
    }

    /// Bytes that it takes of the device's memory.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn is_secret(&self) -> bool {
        self.contents != Contents::Plain
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.home.give_back(self.memory, self.capacity, self.contents);
    }
}
