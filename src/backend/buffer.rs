//! Device memory that goes back to the pool.

use std::sync::Arc;

use super::MemoryHandle;
use super::core::{Contents, StreamCore};
use super::pool::Place;
use super::shared::Shared;
use super::uses::Uses;

/// Device memory taken from the pool by a stream, given back when dropped.
///
/// Reuse is ordered by streams: the next owner's commands queue behind the last owner's, or wait for these. Commands that
/// safe functions queue on other streams are recorded: writes wait for them, and so does the next owner.
#[derive(Debug)]
pub struct Buffer {
    pub(super) memory: MemoryHandle,
    bytes: usize,
    place: Place,
    contents: Contents,
    home: Arc<StreamCore>,
    pub(super) uses: Uses,
}

impl Buffer {
    pub(super) fn new(
        (memory, place): (MemoryHandle, Place),
        bytes: usize,
        contents: Contents,
        home: Arc<StreamCore>,
    ) -> Self {
        let uses = Uses::by_owner(&home);
        Self { memory, bytes, place, contents, home, uses }
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
        self.place.bytes
    }

    pub(super) fn is_secret(&self) -> bool {
        self.contents != Contents::Plain
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.uses.release_to(&self.home);
        self.home.give_back(self.memory, self.place, self.contents);
    }
}
