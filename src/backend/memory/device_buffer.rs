//! Device memory that goes back to its owner: the pool, or another library.

use std::sync::Arc;

use super::access_history::AccessHistory;
use super::device_memory_state::DeviceAllocator;
use super::foreign_memory::ForeignMemory;
use super::pool::Block;
use crate::backend::MemoryHandle;
use crate::backend::stream::{Sensitivity, StreamInner};
use crate::fork_check;

/// Says where a buffer's memory goes when the buffer is dropped.
#[derive(Debug)]
enum Storage {
    /// To the device's pool.
    Pooled(Block),
    /// To the library that allocated it, which the drop of this value does. `None` once it has gone.
    Foreign(Option<Box<dyn ForeignMemory>>),
}

/// Owns device memory that a stream allocated or adopted. When this is dropped, the memory goes back to the device's
/// pool, or to the library that it was adopted from.
///
/// If another stream reuses the memory, its commands run after those of the last owner. Commands that safe functions
/// queue on other streams are recorded. Later writes wait for recorded commands, and so does the next owner.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) memory: MemoryHandle,
    bytes: usize,
    storage: Storage,
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
        Self { memory, bytes, storage: Storage::Pooled(place), contents, home, uses }
    }

    /// Wraps `foreign`, which holds secrets. Commands of the stream `home` already run after those that wrote it.
    pub(crate) fn adopted(foreign: Box<dyn ForeignMemory>, home: Arc<StreamInner>) -> Self {
        let (memory, bytes, uses) =
            (MemoryHandle(foreign.address()), foreign.bytes(), AccessHistory::with_owner(&home));
        Self { memory, bytes, storage: Storage::Foreign(Some(foreign)), contents: Sensitivity::Secret, home, uses }
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
        match &self.storage {
            Storage::Pooled(place) => place.bytes,
            Storage::Foreign(_) => self.bytes,
        }
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.contents != Sensitivity::Plain
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.uses.release_to_owner(&self.home);
        match &mut self.storage {
            Storage::Pooled(place) => self.home.release_block(self.memory, *place, self.contents),
            Storage::Foreign(foreign) => match foreign.take() {
                // The parent of a forked child still has the memory.
                Some(foreign) if fork_check::check().is_err() => std::mem::forget(foreign),
                Some(foreign) => self.home.return_foreign(&*foreign),
                None => {}
            },
        }
    }
}
