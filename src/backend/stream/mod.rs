//! A stream: an in-order queue for the sole use of its holder.
#![warn(clippy::arithmetic_side_effects)]

mod abortable_waits;
mod adopt;
mod event;
mod launched_shapes;
mod launches;
mod owned_queue;
mod peer_copy;
mod queued_time_limit;
mod stream_inner;
mod stream_stats;

use std::sync::Arc;
use std::time::Instant;

pub(crate) use abortable_waits::ABORT_CHECK_BYTES;
pub use event::Event;
pub(super) use launched_shapes::LaunchedShapes;
pub use launches::Launch;
pub(super) use owned_queue::Queue;
pub(super) use queued_time_limit::QueueLimiter;
pub(super) use stream_inner::{Sensitivity, StreamInner};
pub use stream_stats::StreamStats;

use super::host_copies::SLOT_BYTES;
use super::{Abort, Buffer, Device, Driver, EventHandle, MemoryHandle, PinnedBuffer, StreamHandle, check_abort, lock};
use crate::checked_size::MAX_BYTES;
use crate::{Error, Result};

/// Granule of allocations in bytes, 4 KiB. Sizes are rounded up to it, so that pooled blocks fit again and copies are
/// aligned.
const ALLOC_ALIGN: usize = 4096;

/// Represents an in-order command queue of a device, for the sole use of its holder.
#[derive(Debug)]
pub struct Stream {
    pub(super) device: Arc<Device>,
    pub(super) core: Arc<StreamInner>,
    pub(super) traffic: StreamStats,
    pub(super) started: Option<EventHandle>,
    /// Start and end events of the finished timing spans, which are read at the next wait.
    pub(super) spans: Vec<(EventHandle, EventHandle)>,
    /// Buffers of other streams that the queued commands use.
    pub(super) kept: Vec<Arc<Buffer>>,
    secrets: bool,
    /// Whether kernels of other streams should run concurrently.
    pub(super) beside: bool,
}

impl Device {
    /// Takes an idle stream of the device for the caller's sole use, or creates one.
    ///
    /// # Errors
    /// - [`Error::Forked`]: the process was forked after its parent had used the engine.
    /// - [`Error::Device`]: the driver's call failed.
    pub fn stream(self: &Arc<Self>) -> Result<Stream> {
        Ok(Stream::new(self.clone(), self.acquire_stream()?))
    }
}

impl Stream {
    pub(super) fn new(device: Arc<Device>, core: Arc<StreamInner>) -> Self {
        Self {
            device,
            core,
            traffic: StreamStats::default(),
            started: None,
            spans: Vec::new(),
            kept: Vec::new(),
            secrets: false,
            beside: false,
        }
    }

    /// Returns the device that runs the stream's commands.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Returns the statistics of the stream's copies and launches so far.
    pub fn stats(&self) -> StreamStats {
        self.traffic
    }

    /// Allocates `bytes` of device memory with undefined contents. Zero bytes allocate one granule of 4 KiB.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`]: the device has too little memory left, or its cap leaves too little.
    /// - [`Error::OutOfMemory`]: `bytes` exceed Rust's limit for a slice.
    /// - [`Error::Device`]: the driver failed.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer> {
        self.allocate_with_sensitivity(bytes, Sensitivity::Plain)
    }

    /// Allocates `bytes` of device memory for values that are derived from secrets. They must be written before they
    /// are read. The memory is cleared only before it is freed or reused for anything but scratch memory, which
    /// spares a pass over it.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`]: the device has too little memory left, or its cap leaves too little.
    /// - [`Error::OutOfMemory`]: `bytes` exceed Rust's limit for a slice.
    /// - [`Error::Device`]: the driver failed.
    pub fn scratch(&self, bytes: usize) -> Result<Buffer> {
        self.allocate_with_sensitivity(bytes, Sensitivity::Scratch)
    }

    fn allocate_with_sensitivity(&self, bytes: usize, contents: Sensitivity) -> Result<Buffer> {
        let capacity = self.round_up_bytes(bytes)?;
        let found = match self.core.take_own_block(capacity, contents)? {
            Some(found) => found,
            None => self.device.allocate(&self.core, capacity, contents)?,
        };
        Ok(Buffer::new(found, bytes, contents, self.core.clone()))
    }

    /// Rounds `bytes` up to whole granules of 4 KiB. Returns an out-of-memory error for sizes that no slice can have.
    fn round_up_bytes(&self, bytes: usize) -> Result<usize> {
        let rounded = bytes.max(1).checked_next_multiple_of(ALLOC_ALIGN).filter(|capacity| *capacity <= MAX_BYTES);
        rounded.ok_or_else(|| Error::OutOfMemory {
            device: self.device.info().name.clone(),
            requested: bytes as u64,
            available: self.device.memory(),
        })
    }

    /// Copies `from` to the start of `to` through pinned staging memory. Returns once `from` has been read. The last
    /// copies may still run on the stream.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `from` is longer than the buffer.
    /// - [`Error::Invalid`]: the buffer is of another device.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    pub fn upload(&mut self, to: &Buffer, from: &[u8]) -> Result<()> {
        self.upload_at(to, 0, from)
    }

    /// Copies `from` to `to`, from byte `offset` on, through pinned staging memory. Returns once `from` has been
    /// read. The last copies may still run on the stream.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the range is not inside the buffer.
    /// - [`Error::Invalid`]: the buffer is of another device.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    pub fn upload_at(&mut self, to: &Buffer, offset: usize, from: &[u8]) -> Result<()> {
        self.check_range("upload", to, offset, from.len())?;
        to.uses.order_write(&self.core)?;
        // SAFETY: the range was checked.
        unsafe { self.staged_upload((to.memory, offset), from, to.is_secret()) }
    }

    /// Copies `from` to device memory through the staging ring. `to` is memory and a byte offset in it. If `secret`
    /// is set, the staging memory is marked for clearing.
    ///
    /// # Safety
    /// The stream's device may write `from.len()` bytes of memory from `to` on.
    pub(super) unsafe fn staged_upload(&mut self, to: (MemoryHandle, usize), from: &[u8], secret: bool) -> Result<()> {
        let start = Instant::now();
        self.secrets |= secret;
        let (driver, stream) = (&*self.core.shared.driver, self.core.handle);
        lock(&self.core.ring).upload(driver, from, secret, &|slot, offset| {
            // SAFETY: passed on from the caller; the slot stays until its event has passed.
            unsafe {
                driver.copy_h2d(stream, to.0, to.1.saturating_add(offset), slot.pointer, slot.bytes)?;
                record_event_or_synchronize(driver, stream)
            }
        })?;
        self.traffic.count_upload(from.len());
        self.traffic.add_upload_time(start);
        Ok(())
    }

    /// Clears secrets in the stream's pinned staging memory, once the device no longer uses it. The call is optional:
    /// dropping the stream does so too, but only after the kernels, not concurrently with them.
    pub fn zeroize_staging(&mut self) {
        if std::mem::take(&mut self.secrets) {
            lock(&self.core.ring).zeroize(&*self.core.shared.driver);
        }
    }

    /// Fills `to` from the start of `from`, and waits for the copy.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `to` is longer than the buffer.
    /// - [`Error::Invalid`]: the buffer is of another device.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    ///
    /// After an error other than [`Error::Invalid`], `to` may be partly written.
    pub fn download(&mut self, to: &mut [u8], from: &Buffer) -> Result<()> {
        self.download_abortable(to, from, None)
    }

    /// Fills `to` from `from`, from byte `offset` on, and waits for the copy.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the range is not inside the buffer.
    /// - [`Error::Invalid`]: the buffer is of another device.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    ///
    /// After an error other than [`Error::Invalid`], `to` may be partly written.
    pub fn download_at(&mut self, to: &mut [u8], from: &Buffer, offset: usize) -> Result<()> {
        self.check_range("download", from, offset, to.len())?;
        from.uses.order_read(&self.core)?;
        // SAFETY: the range was checked.
        unsafe { self.staged_download(std::iter::once((to, offset)), from.memory, from.is_secret(), None) }
    }

    /// Fills `to` from the start of `from`, and waits for the copy. Calls the hook `abort` before every part of 4
    /// MiB.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: `abort` asked to stop.
    /// - [`Error::Invalid`]: `to` is longer than the buffer.
    /// - [`Error::Invalid`]: the buffer is of another device.
    /// - [`Error::OutOfMemory`]: there is too little memory for the staging ring.
    /// - [`Error::Device`]: the driver failed.
    ///
    /// After an error other than [`Error::Invalid`], `to` may be partly written.
    pub(crate) fn download_abortable(&mut self, to: &mut [u8], from: &Buffer, abort: Abort<'_>) -> Result<()> {
        self.check_range("download", from, 0, to.len())?;
        from.uses.order_read(&self.core)?;
        // SAFETY: the range was checked.
        unsafe { self.staged_download(std::iter::once((to, 0)), from.memory, from.is_secret(), abort) }
    }

    /// Fills slices of host memory from device memory `from`, and waits for the copies. Each of `pieces` is a slice
    /// and its byte offset in `from`. Calls the hook `abort` before every part of 4 MiB. If `secret` is set, the
    /// staging memory is marked for clearing.
    ///
    /// # Safety
    /// The ranges are inside the memory, which the stream's device may read.
    pub(super) unsafe fn staged_download<'a>(
        &mut self,
        pieces: impl Iterator<Item = (&'a mut [u8], usize)>,
        from: MemoryHandle,
        secret: bool,
        abort: Abort<'_>,
    ) -> Result<()> {
        let start = Instant::now();
        self.secrets |= secret;
        let (driver, stream) = (&*self.core.shared.driver, self.core.handle);
        let traffic = &mut self.traffic;
        let parts = |(to, offset): (&'a mut [u8], usize)| {
            let offsets = (offset..=usize::MAX).step_by(SLOT_BYTES);
            to.chunks_mut(SLOT_BYTES).zip(offsets)
        };
        let parts = pieces.flat_map(parts).inspect(|(part, _)| traffic.count_download(part.len()));
        lock(&self.core.ring).download(driver, parts, secret, &|slot, offset| {
            check_abort(abort)?;
            // SAFETY: passed on from the caller; the slot stays until its event has passed.
            unsafe {
                driver.copy_d2h(stream, slot.pointer, from, offset, slot.bytes)?;
                record_event_or_synchronize(driver, stream)
            }
        })?;
        self.traffic.add_download_time(start);
        Ok(())
    }

    /// Lets kernels of other streams run concurrently with the kernels that are queued from now on.
    pub(crate) fn allow_concurrent_kernels(&mut self) {
        self.beside = true;
    }

    /// Keeps `buffer`, which may be another stream's, alive until the queued commands have run.
    pub(crate) fn retain_buffer(&mut self, buffer: Arc<Buffer>) {
        self.kept.push(buffer);
    }

    /// Allocates `bytes` of pinned (page-locked) host memory for [`Self::copy_to_pinned`], with undefined contents.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`]: there is too little memory.
    /// - [`Error::OutOfMemory`]: `bytes` exceed Rust's limit for a slice.
    /// - [`Error::Device`]: the driver failed.
    pub fn allocate_pinned(&self, bytes: usize) -> Result<PinnedBuffer> {
        let pinned = self.core.acquire_pinned(self.round_up_bytes(bytes)?)?;
        Ok(PinnedBuffer::new(pinned, bytes, self.core.clone()))
    }

    /// Queues a copy of the start of `from` that fills `to`. Reading `to` waits for the copy. After
    /// [`Self::synchronize`] the copy has run.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `to` is larger than `from`.
    /// - [`Error::Invalid`]: `from` is of another device.
    /// - [`Error::Device`]: the driver failed.
    pub fn copy_to_pinned(&mut self, to: &mut PinnedBuffer, from: &Buffer) -> Result<()> {
        self.check_range("fetch", from, 0, to.bytes())?;
        from.uses.order_read(&self.core)?;
        to.uses.order_write(&self.core)?;
        self.traffic.count_download(to.bytes());
        // SAFETY: the range was checked; the host buffer has recorded the copy, and waits for it before the host uses
        // or frees the memory.
        unsafe { self.core.shared.driver.copy_d2h(self.core.handle, to.pinned.pointer, from.memory, 0, to.bytes()) }
    }

    /// Adds `bytes`, which a kernel writes to host memory, to the statistics of downloads.
    pub(crate) fn count_downloaded_bytes(&mut self, bytes: usize) {
        self.traffic.count_download(bytes);
    }

    /// Queues a copy of `bytes` between buffers of the device. `to` and `from` are a buffer and a byte offset in it.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a range is not inside its buffer.
    /// - [`Error::Invalid`]: a buffer is of another device.
    /// - [`Error::Device`]: the driver failed.
    pub fn copy(&mut self, to: (&Buffer, usize), from: (&Buffer, usize), bytes: usize) -> Result<()> {
        self.check_range("copy to", to.0, to.1, bytes)?;
        self.check_range("copy from", from.0, from.1, bytes)?;
        from.0.uses.order_read(&self.core)?;
        to.0.uses.order_write(&self.core)?;
        // SAFETY: both ranges were checked.
        unsafe {
            self.core.shared.driver.copy_d2d(self.core.handle, (to.0.memory, to.1), (from.0.memory, from.1), bytes)
        }
    }

    /// Queues a command that sets all bytes of `buffer` to zero.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the buffer is of another device.
    /// - [`Error::Device`]: the driver failed.
    pub fn zero(&mut self, buffer: &Buffer) -> Result<()> {
        self.check_range("zero", buffer, 0, buffer.bytes())?;
        buffer.uses.order_write(&self.core)?;
        // SAFETY: capacity is a multiple of the granule, so the rounded length is inside.
        unsafe {
            self.core.shared.driver.zero_memory(self.core.handle, buffer.memory, 0, buffer.bytes().next_multiple_of(4))
        }
    }

    /// Records an event behind all commands queued so far.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    pub fn record_event(&self) -> Result<Event> {
        // SAFETY: the handle is live.
        let event = unsafe { self.core.shared.driver.event_record(self.core.handle)? };
        Ok(Event { handle: event, number: self.core.next_event_number(), core: self.core.clone() })
    }

    /// Makes commands queued from now on wait for `mark`, an event of another stream. Both streams are of one device,
    /// or of two CUDA devices.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the event is of another device, and not both devices are CUDA's.
    /// - [`Error::Device`]: the driver failed.
    pub fn wait_event(&mut self, mark: &Event) -> Result<()> {
        self.check_event_access("mark", &mark.core)?;
        // SAFETY: both handles are live, and of one driver or of drivers of one backend that share memory.
        unsafe { self.core.shared.driver.stream_wait_event(self.core.handle, mark.handle)? };
        self.core.record_awaited_event(&mark.core, mark.number);
        Ok(())
    }

    /// Makes the next command, which reads `buffer`, wait for other streams' writes to it.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn order_read(&self, buffer: &Buffer) -> Result<()> {
        buffer.uses.order_read(&self.core)
    }

    /// Makes the next command, which writes `buffer`, wait for other streams' commands on it.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn order_write(&self, buffer: &Buffer) -> Result<()> {
        buffer.uses.order_write(&self.core)
    }

    /// Starts a timing span. Its device time counts as [`StreamStats::kernels`].
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    pub fn begin_timing(&mut self) -> Result<()> {
        self.discard_timing_start();
        // SAFETY: the handle is live.
        self.started = Some(unsafe { self.core.shared.driver.event_record(self.core.handle)? });
        Ok(())
    }

    /// Ends the open timing span, if there is one. Its time is read at the next [`Self::synchronize`].
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    pub fn end_timing(&mut self) -> Result<()> {
        if let Some(start) = self.started.take() {
            // SAFETY: the handle is live.
            match unsafe { self.core.shared.driver.event_record(self.core.handle) } {
                Ok(end) => self.spans.push((start, end)),
                Err(error) => {
                    self.started = Some(start);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Frees both `events` in the driver.
    ///
    /// # Safety
    /// The events are live and not used again.
    pub(super) unsafe fn free_events(&self, events: [EventHandle; 2]) {
        for event in events {
            // SAFETY: passed on from the caller.
            unsafe { self.core.shared.driver.event_free(event) };
        }
    }

    pub(super) fn check_range(&self, place: &'static str, buffer: &Buffer, offset: usize, bytes: usize) -> Result<()> {
        if !self.device.owns(buffer) {
            let expected = format!("one of {}", self.device.info().name);
            return Err(Error::invalid(place, "buffer", expected, "one of another device"));
        }
        Error::check_byte_range(place, offset, bytes, buffer.bytes())
    }

    /// Checks that this stream can wait for events of stream `other`. `what` names the event in the error.
    fn check_event_access(&self, what: &str, other: &StreamInner) -> Result<()> {
        let [own, others] = [&self.core.shared, &other.shared].map(|shared| shared.driver.info());
        if Arc::ptr_eq(&self.core.shared, &other.shared)
            || (own.backend == others.backend && own.caps.cross_device_events)
        {
            return Ok(());
        }
        Err(Error::invalid("wait_for", what, format!("one of {}", own.name), format!("one of {}", others.name)))
    }

    fn discard_timing_start(&mut self) {
        if let Some(event) = self.started.take() {
            // SAFETY: the event is live and not used again.
            unsafe { self.core.shared.driver.event_free(event) };
        }
    }
}

/// Records an event behind a copy that was just queued on `stream`. If that fails, waits for the copy, since its
/// staging slot would count as idle.
///
/// # Safety
/// The stream is a live one of the driver's.
unsafe fn record_event_or_synchronize(driver: &dyn Driver, stream: StreamHandle) -> Result<EventHandle> {
    // SAFETY: passed on from the caller.
    unsafe { driver.event_record(stream).inspect_err(|_| drop(driver.stream_synchronize(stream))) }
}

impl Drop for Stream {
    /// Waits until the queue is empty, clears secrets in the staging memory, and returns the stream to the device's
    /// idle streams.
    fn drop(&mut self) {
        self.discard_timing_start();
        for (start, end) in std::mem::take(&mut self.spans) {
            // SAFETY: the events are live and not used again.
            unsafe { self.free_events([start, end]) };
        }
        self.core.synchronize();
        self.core.record_passed_event(self.core.next_event_number());
        self.zeroize_staging();
        self.device.release_stream(self.core.clone());
    }
}
