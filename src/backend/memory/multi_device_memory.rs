//! Memory that several devices share, with a part on each of them.
#![warn(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use crate::backend::stream::StreamInner;
use crate::backend::{MemoryHandle, Stream};
use crate::checked_size::product;
use crate::{Error, Result};

/// Holds memory of several devices at consecutive addresses, with an equal part on the device of each of some
/// streams. Every one of these devices can access all of it. The contents are secret: they are cleared before the
/// memory is freed.
#[derive(Debug)]
pub struct PeerMemory {
    memory: MemoryHandle,
    part_bytes: usize,
    /// One stream per part, on the device that has the part. Commands queued on these streams use the memory.
    homes: Vec<Arc<StreamInner>>,
}

impl PeerMemory {
    /// Allocates memory with undefined contents: `part_bytes` on the device of each of `streams`, in this order. If
    /// all streams are of one device, it holds all parts. CUDA maps multiples of its granule, 2 MiB on present
    /// devices.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `streams` is empty.
    /// - [`Error::Invalid`]: the parts together exceed Rust's limit for a slice.
    /// - [`Error::Unsupported`]: the devices are different ones, and not all are CUDA's.
    /// - [`Error::Device`]: on CUDA, the devices cannot access each other's memory.
    /// - [`Error::Device`]: on CUDA, `part_bytes` is no multiple of the driver's granule.
    /// - [`Error::OutOfMemory`]: one device has too little memory left, or its cap leaves too little.
    /// - [`Error::Device`]: the driver failed.
    pub fn new(streams: &[Stream], part_bytes: usize) -> Result<Self> {
        check_shareable_memory(streams)?;
        product("memory of peers", "bytes", &[streams.len(), part_bytes])?;
        let memory = match Self::allocate(streams, part_bytes) {
            Err(Error::OutOfMemory { .. }) => {
                for stream in streams {
                    stream.device().trim();
                }
                Self::allocate(streams, part_bytes)?
            }
            other => other?,
        };
        Ok(Self { memory, part_bytes, homes: streams.iter().map(|stream| stream.core.clone()).collect() })
    }

    fn allocate(streams: &[Stream], part_bytes: usize) -> Result<MemoryHandle> {
        let mut counted = Vec::new();
        let count =
            |stream: &Stream| stream.core.shared.charge_bytes(part_bytes).map(|()| counted.push(stream.core.clone()));
        let ordinals: Vec<usize> = streams.iter().map(|stream| stream.device().info().ordinal).collect();
        let driver = &*streams[0].core.shared.driver;
        let memory = streams.iter().try_for_each(count).and_then(|()| driver.alloc_peer_memory(&ordinals, part_bytes));
        if memory.is_err() {
            for core in counted {
                core.shared.uncharge_bytes(part_bytes);
            }
        }
        memory
    }

    /// Returns the backend's handle of the memory, for kernel arguments.
    pub fn handle(&self) -> MemoryHandle {
        self.memory
    }

    /// Checks that `bytes` from byte `offset` on are inside the memory.
    fn check_range(&self, offset: usize, bytes: usize) -> Result<()> {
        Error::check_byte_range("memory of peers", offset, bytes, self.part_bytes.saturating_mul(self.homes.len()))
    }
}

/// Checks that `streams` is not empty, and that its devices can share memory: they are one device, or devices of
/// one backend with peer memory.
fn check_shareable_memory(streams: &[Stream]) -> Result<()> {
    let Some(first) = streams.first().map(Stream::device) else {
        return Err(Error::invalid("memory of peers", "number of devices", "at least 1", 0));
    };
    let info = first.info();
    let same = |stream: &Stream| Arc::ptr_eq(&stream.core.shared, &streams[0].core.shared);
    let reached = |stream: &Stream| stream.device().info().backend == info.backend && info.caps.peer_memory;
    if streams.iter().all(|stream| same(stream) || reached(stream)) {
        return Ok(());
    }
    let reason = "only devices of the cuda backend share memory; several vectors are spread over others";
    Err(Error::unsupported(&info.name, "memory of several devices", reason))
}

impl Drop for PeerMemory {
    fn drop(&mut self) {
        for (part, home) in self.homes.iter().enumerate() {
            home.enqueue_clear(self.memory, part.saturating_mul(self.part_bytes), self.part_bytes);
        }
        for home in &self.homes {
            home.synchronize();
        }
        let Some(first) = self.homes.first() else { return };
        // SAFETY: the streams that use the memory have run empty.
        unsafe { first.shared.driver.free_peer_memory(self.memory, self.homes.len(), self.part_bytes) };
        for home in &self.homes {
            home.shared.uncharge_bytes(self.part_bytes);
        }
    }
}

impl Stream {
    /// Copies `from` to `to`, from byte `offset` on, through pinned staging memory. Returns once `from` has been
    /// read. The last copies may still run on the stream.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the range is not inside the memory.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    pub fn upload_to_peers(&mut self, to: &PeerMemory, offset: usize, from: &[u8]) -> Result<()> {
        to.check_range(offset, from.len())?;
        // SAFETY: the range was checked.
        unsafe { self.staged_upload((to.memory, offset), from, true) }
    }

    /// Copies ranges of `from` to host memory, and waits for the copies. Each of `pieces` is a target slice and the
    /// byte offset of its range in `from`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a range is not inside the memory.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    ///
    /// After an error other than [`Error::Invalid`], the host memory may be partly written.
    pub fn download_from_peers(&mut self, from: &PeerMemory, pieces: Vec<(&mut [u8], usize)>) -> Result<()> {
        pieces.iter().try_for_each(|(to, offset)| from.check_range(*offset, to.len()))?;
        // SAFETY: the ranges were checked.
        unsafe { self.staged_download(pieces.into_iter(), from.memory, true, None) }
    }
}
