//! A stream: an in-order queue in the sole use of its holder.
#![warn(clippy::arithmetic_side_effects)]

use std::sync::Arc;
use std::time::Instant;

use super::core::{Contents, StreamCore};
use super::staging::SLOT_BYTES;
use super::{
    Abort, BackendKind, Buffer, Device, Driver, EventHandle, HostBuffer, Mark, MemoryHandle, StreamHandle, Traffic,
    check_abort, lock,
};
use crate::sizes::MAX_BYTES;
use crate::{Error, Result};

/// Allocations are rounded up to this, so that pooled blocks fit again and copies are aligned.
const GRANULE: usize = 4096;

/// An in-order queue of a device, in the sole use of its holder.
#[derive(Debug)]
pub struct Stream {
    pub(super) device: Arc<Device>,
    pub(super) core: Arc<StreamCore>,
    pub(super) traffic: Traffic,
    pub(super) started: Option<EventHandle>,
    /// Spans of kernels whose times are read at the next wait.
    pub(super) spans: Vec<(EventHandle, EventHandle)>,
    /// Buffers of other streams that what is queued here uses.
    pub(super) kept: Vec<Arc<Buffer>>,
    secrets: bool,
    /// Kernels of other streams are to run at the same time.
    pub(super) beside: bool,
}

impl Device {
    /// Takes a stream for the caller's sole use, an idle one if there is one.
    ///
    /// # Errors
    /// The driver's call failed.
    pub fn stream(self: &Arc<Self>) -> Result<Stream> {
        Ok(Stream::new(self.clone(), self.take_core()?))
    }
}

impl Stream {
    pub(super) fn new(device: Arc<Device>, core: Arc<StreamCore>) -> Self {
        Self {
            device,
            core,
            traffic: Traffic::default(),
            started: None,
            spans: Vec::new(),
            kept: Vec::new(),
            secrets: false,
            beside: false,
        }
    }

    /// The device it queues to.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What it has moved and run so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Device memory with undefined contents; one granule where nothing is asked for.
    ///
    /// # Errors
    /// Out of memory, or the driver failed.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer> {
        self.allocate_for(bytes, Contents::Plain)
    }

    /// Like [`Self::allocate`], for what secrets turn into on the way to a result and what is written before it
    /// is read: cleared before it is used for anything but that, or freed, which spares a pass over it.
    ///
    /// # Errors
    /// As [`Self::allocate`].
    pub fn scratch(&self, bytes: usize) -> Result<Buffer> {
        self.allocate_for(bytes, Contents::Scratch)
    }

    fn allocate_for(&self, bytes: usize, contents: Contents) -> Result<Buffer> {
        let capacity = self.capacity(bytes)?;
        let found = match self.core.take(capacity, contents)? {
            Some(found) => found,
            None => self.device.allocate(&self.core, capacity, contents)?,
        };
        Ok(Buffer::new(found, bytes, contents, self.core.clone()))
    }

    /// Rounds a size up to whole granules; sizes that no slice has count as too large for the device.
    fn capacity(&self, bytes: usize) -> Result<usize> {
        let rounded = bytes.max(1).checked_next_multiple_of(GRANULE).filter(|capacity| *capacity <= MAX_BYTES);
        rounded.ok_or_else(|| Error::OutOfMemory {
            device: self.device.info().name.clone(),
            requested: bytes as u64,
            available: self.device.memory(),
        })
    }

    /// Copies host memory to the start of a buffer through the staging ring. Returns once `from` has
    /// been read; the last copies may still be under way on the stream.
    ///
    /// # Errors
    /// `from` is longer than the buffer, or the driver failed.
    pub fn upload(&mut self, to: &Buffer, from: &[u8]) -> Result<()> {
        self.upload_at(to, 0, from)
    }

    /// Like [`Self::upload`], to `offset` bytes into the buffer.
    ///
    /// # Errors
    /// The range is not inside the buffer, or the driver failed.
    pub fn upload_at(&mut self, to: &Buffer, offset: usize, from: &[u8]) -> Result<()> {
        self.check_range("upload", to, offset, from.len())?;
        to.uses.write(&self.core)?;
        // SAFETY: the range was checked.
        unsafe { self.stage_up((to.memory, offset), from, to.is_secret()) }
    }

    /// # Safety
    /// So many bytes from the place on are memory that the stream's device may write.
    pub(super) unsafe fn stage_up(&mut self, to: (MemoryHandle, usize), from: &[u8], secret: bool) -> Result<()> {
        let start = Instant::now();
        self.secrets |= secret;
        let (driver, stream) = (&*self.core.shared.driver, self.core.handle);
        lock(&self.core.ring).send(driver, from, secret, &|slot, offset| {
            // SAFETY: passed on from the caller; the slot stays until its event has passed.
            unsafe {
                driver.copy_in(stream, to.0, to.1.saturating_add(offset), slot.pointer, slot.bytes)?;
                record_or_wait(driver, stream)
            }
        })?;
        self.traffic.count_up(from.len());
        self.traffic.time_upload(start);
        Ok(())
    }

    /// Clears what uploads of secrets left in the staging ring, once the device has read it. Whoever holds the stream
    /// need not call it: that is done when the stream is dropped, but after the kernels instead of beside them.
    pub fn wipe_staging(&mut self) {
        if std::mem::take(&mut self.secrets) {
            lock(&self.core.ring).wipe(&*self.core.shared.driver);
        }
    }

    /// Copies the start of a buffer to host memory and waits for it.
    ///
    /// # Errors
    /// `to` is longer than the buffer, or the driver failed; then `to` may be partly written.
    pub fn download(&mut self, to: &mut [u8], from: &Buffer) -> Result<()> {
        self.download_unless(to, from, None)
    }

    /// Like [`Self::download`], from byte `offset` of the buffer on.
    ///
    /// # Errors
    /// As [`Self::download`].
    pub fn download_at(&mut self, to: &mut [u8], from: &Buffer, offset: usize) -> Result<()> {
        self.check_range("download", from, offset, to.len())?;
        from.uses.read(&self.core)?;
        // SAFETY: the range was checked.
        unsafe { self.stage_down(std::iter::once((to, offset)), from.memory, from.is_secret(), None) }
    }

    /// Like [`Self::download`], asking `abort` before every part.
    ///
    /// # Errors
    /// [`Error::Aborted`], or as [`Self::download`].
    pub(crate) fn download_unless(&mut self, to: &mut [u8], from: &Buffer, abort: Abort<'_>) -> Result<()> {
        self.check_range("download", from, 0, to.len())?;
        from.uses.read(&self.core)?;
        // SAFETY: the range was checked.
        unsafe { self.stage_down(std::iter::once((to, 0)), from.memory, from.is_secret(), abort) }
    }

    /// Copies ranges of memory from their offsets on to host memory, and waits for them, unless `abort` says stop.
    ///
    /// # Safety
    /// The ranges are inside the memory, which the stream's device may read.
    pub(super) unsafe fn stage_down<'a>(
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
        let parts = pieces.flat_map(parts).inspect(|(part, _)| traffic.count_down(part.len()));
        lock(&self.core.ring).receive(driver, parts, secret, &|slot, offset| {
            check_abort(abort)?;
            // SAFETY: passed on from the caller; the slot stays until its event has passed.
            unsafe {
                driver.copy_out(stream, slot.pointer, from, offset, slot.bytes)?;
                record_or_wait(driver, stream)
            }
        })?;
        self.traffic.time_download(start);
        Ok(())
    }

    /// Tells that kernels of other streams are to run at the same time as those queued from now on.
    pub(crate) fn run_beside_others(&mut self) {
        self.beside = true;
    }

    /// Keeps a buffer that another stream may have given out until what is queued has run.
    pub(crate) fn keep(&mut self, buffer: Arc<Buffer>) {
        self.kept.push(buffer);
    }

    /// Page-locked host memory for [`Self::fetch`], with undefined contents.
    ///
    /// # Errors
    /// The driver failed.
    pub fn host_buffer(&self, bytes: usize) -> Result<HostBuffer> {
        let pinned = self.core.take_pinned(self.capacity(bytes)?)?;
        Ok(HostBuffer::new(pinned, bytes, self.core.clone()))
    }

    /// Queues a copy of a buffer's start to page-locked host memory, as much as that holds. Reading the host memory waits
    /// for the copy; after [`Self::wait`] it is there.
    ///
    /// # Errors
    /// The host buffer is larger, or the driver failed.
    pub fn fetch(&mut self, to: &mut HostBuffer, from: &Buffer) -> Result<()> {
        self.check_range("fetch", from, 0, to.bytes())?;
        from.uses.read(&self.core)?;
        to.uses.write(&self.core)?;
        self.traffic.count_down(to.bytes());
        // SAFETY: the range was checked; the host buffer has recorded the copy, and waits for it before the host uses or frees
        // the memory.
        unsafe { self.core.shared.driver.copy_out(self.core.handle, to.pinned.pointer, from.memory, 0, to.bytes()) }
    }

    /// Notes that a kernel writes so many bytes to the host's memory.
    pub(crate) fn note_written(&mut self, bytes: usize) {
        self.traffic.count_down(bytes);
    }

    /// Queues a copy between buffers.
    ///
    /// # Errors
    /// A range is not inside its buffer, or the driver failed.
    pub fn copy(&mut self, to: (&Buffer, usize), from: (&Buffer, usize), bytes: usize) -> Result<()> {
        self.check_range("copy to", to.0, to.1, bytes)?;
        self.check_range("copy from", from.0, from.1, bytes)?;
        from.0.uses.read(&self.core)?;
        to.0.uses.write(&self.core)?;
        // SAFETY: both ranges were checked.
        unsafe { self.core.shared.driver.copy(self.core.handle, (to.0.memory, to.1), (from.0.memory, from.1), bytes) }
    }

    /// Queues setting a whole buffer to zero.
    ///
    /// # Errors
    /// The buffer is of another device, or the driver failed.
    pub fn zero(&mut self, buffer: &Buffer) -> Result<()> {
        self.check_range("zero", buffer, 0, buffer.bytes())?;
        buffer.uses.write(&self.core)?;
        // SAFETY: capacity is a multiple of the granule, so the rounded length is inside.
        unsafe { self.core.shared.driver.zero(self.core.handle, buffer.memory, 0, buffer.bytes().next_multiple_of(4)) }
    }

    /// Marks the point that the stream has been filled to.
    ///
    /// # Errors
    /// The driver failed.
    pub fn mark(&self) -> Result<Mark> {
        // SAFETY: the handle is live.
        let event = unsafe { self.core.shared.driver.event_record(self.core.handle)? };
        Ok(Mark { event, number: self.core.next_event(), core: self.core.clone() })
    }

    /// Lets what is queued from now on wait for a mark of another stream, of the same device or of one that shares memory
    /// with it.
    ///
    /// # Errors
    /// The mark is of another driver's stream, or the driver failed.
    pub fn wait_for(&mut self, mark: &Mark) -> Result<()> {
        self.check_reach("mark", &mark.core)?;
        // SAFETY: both handles are live, and of one driver or of drivers of one backend that share memory.
        unsafe { self.core.shared.driver.stream_wait(self.core.handle, mark.event)? };
        self.core.note_awaited(&mark.core, mark.number);
        Ok(())
    }

    /// Orders the next command, which reads a buffer, behind other streams' writes to it.
    ///
    /// # Errors
    /// The driver failed.
    pub(crate) fn will_read(&self, buffer: &Buffer) -> Result<()> {
        buffer.uses.read(&self.core)
    }

    /// Orders the next command, which writes a buffer, behind other streams' commands on it.
    ///
    /// # Errors
    /// The driver failed.
    pub(crate) fn will_write(&self, buffer: &Buffer) -> Result<()> {
        buffer.uses.write(&self.core)
    }

    /// Starts a span that counts as [`Traffic::kernels`].
    ///
    /// # Errors
    /// The driver failed.
    pub fn mark_start(&mut self) -> Result<()> {
        self.drop_start();
        // SAFETY: the handle is live.
        self.started = Some(unsafe { self.core.shared.driver.event_record(self.core.handle)? });
        Ok(())
    }

    /// Ends the span that was started last; its time is read at the next wait.
    ///
    /// # Errors
    /// The driver failed.
    pub fn mark_end(&mut self) -> Result<()> {
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
        match offset.checked_add(bytes) {
            Some(end) if end <= buffer.bytes() => Ok(()),
            _ => Err(Error::invalid(
                place,
                "range",
                format!("within {} bytes", buffer.bytes()),
                format!("{offset} + {bytes}"),
            )),
        }
    }

    /// Checks that events of `other` mean something to this stream's driver.
    fn check_reach(&self, what: &str, other: &StreamCore) -> Result<()> {
        let [own, others] = [&self.core.shared, &other.shared].map(|shared| shared.driver.info());
        if Arc::ptr_eq(&self.core.shared, &other.shared)
            || (own.backend == others.backend && own.backend == BackendKind::Cuda)
        {
            return Ok(());
        }
        Err(Error::invalid("wait_for", what, format!("one of {}", own.name), format!("one of {}", others.name)))
    }

    fn drop_start(&mut self) {
        if let Some(event) = self.started.take() {
            // SAFETY: the event is live and not used again.
            unsafe { self.core.shared.driver.event_free(event) };
        }
    }
}

/// Records an event behind a copy. If that fails, waits for the copy, whose slot would count as idle.
///
/// # Safety
/// The stream is a live one of the driver's.
unsafe fn record_or_wait(driver: &dyn Driver, stream: StreamHandle) -> Result<EventHandle> {
    // SAFETY: passed on from the caller.
    unsafe { driver.event_record(stream).inspect_err(|_| drop(driver.stream_synchronize(stream))) }
}

impl Drop for Stream {
    /// Runs the queue empty, clears secrets in the staging ring, and makes the stream idle.
    fn drop(&mut self) {
        self.drop_start();
        for (start, end) in std::mem::take(&mut self.spans) {
            // SAFETY: the events are live and not used again.
            unsafe { self.free_events([start, end]) };
        }
        self.core.synchronize();
        self.core.pass(self.core.next_event());
        self.wipe_staging();
        self.device.put_back(self.core.clone());
    }
}
