//! Runs on OpenCL devices, through the library that is found at run time.
//!
//! GPUs and accelerators are used; processors (PoCL) only with `PROOFWARP_OPENCL_CPU=1`. Kernels are compiled at first
//! use and cached on disk, in `PROOFWARP_CACHE_DIR` or the user's cache folder.

mod discovery;
mod disk_cache;
mod load_failures;
mod owned_handles;
mod program;
mod upload_without_driver_copy;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use opencl3::types::{CL_FALSE, CL_TRUE, cl_buffer_region, cl_command_queue, cl_event, cl_int, cl_mem};
use opencl3::{command_queue as queue, error_codes as codes, event, memory};

use super::{
    Arg, DeviceInfo, Driver, EventHandle, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle, lock,
};
use crate::settings::Settings;
use crate::{Error, Result};
use discovery::ClDevice;
use disk_cache::DiskCache;
use owned_handles::{ClOwned, ClResult, decode_number, enqueue_zero_fill, error_text, into_raw, release_command_event};
use program::{ClKernel, Programs, enqueue_kernel};

/// Opens every usable OpenCL device, processors last.
///
/// # Errors
/// - [`Error::Unavailable`]: there is no OpenCL library, no platform or no usable device; the error tells the reason.
/// - [`Error::Invalid`]: a variable of the settings is malformed.
/// - [`Error::Device`]: a device's queue could not be created.
pub fn drivers() -> Result<Vec<OpenClDriver>> {
    let settings = Settings::get()?;
    let targets = discovery::find_devices(settings.opencl_cpu)?.into_iter();
    targets.map(|target| OpenClDriver::new(target, DiskCache::from_settings(settings))).collect()
}

/// Opens the drivers of [`drivers`] for the list of backends.
pub(super) fn open_drivers() -> Result<Vec<Box<dyn Driver>>> {
    Ok(drivers()?.into_iter().map(|driver| Box::new(driver) as Box<dyn Driver>).collect())
}

/// Returns whether OpenCL's library could be loaded.
pub(crate) fn has_library() -> bool {
    discovery::has_library()
}

/// Returns the folder in which compiled programs are cached. `None` if they are not cached.
pub(crate) fn cache_folder() -> Result<Option<PathBuf>> {
    Ok(DiskCache::from_settings(Settings::get()?).folder().map(Path::to_owned))
}

/// Holds the sub-buffers of one allocation by byte offset and size in bytes.
type SubBuffers = HashMap<(usize, usize), ClOwned>;

/// Drives one OpenCL device.
#[derive(Debug)]
pub struct OpenClDriver {
    target: ClDevice,
    /// Command queue for the driver's own commands, such as touching and mapping new memory.
    service: ClOwned,
    /// Total bytes of this driver's buffers, counted here because OpenCL does not report free memory.
    allocated: AtomicU64,
    /// Sub-buffers by their allocation. They stay as long as it does.
    parts: Mutex<HashMap<MemoryHandle, SubBuffers>>,
    programs: Programs,
}

impl OpenClDriver {
    fn new(target: ClDevice, cache: DiskCache) -> Result<Self> {
        let service = target.create_queue()?;
        let cache = if target.specialises { DiskCache::disabled() } else { cache };
        let (allocated, parts, programs) = (AtomicU64::new(0), Mutex::default(), Programs::new(cache));
        Ok(Self { target, service, allocated, parts, programs })
    }

    /// Returns the driver with its compiled programs cached in `folder` instead.
    #[must_use]
    pub fn with_cache(self, folder: &Path) -> Self {
        Self { programs: Programs::new(DiskCache::with_folder(folder)), ..self }
    }

    fn check_call<T>(&self, call: &str, result: ClResult<T>) -> Result<T> {
        self.target.check_call(call, result)
    }

    fn available_bytes(&self) -> u64 {
        self.target.info.memory.saturating_sub(self.allocated.load(Ordering::SeqCst))
    }

    /// Returns the error for an allocation of `bytes` that failed with `code` in the OpenCL function `call`. OpenCL
    /// has several codes for out of memory.
    fn allocation_error(&self, call: &str, bytes: usize, code: cl_int) -> Error {
        match code {
            codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
            | codes::CL_OUT_OF_RESOURCES
            | codes::CL_OUT_OF_HOST_MEMORY
            | codes::CL_INVALID_BUFFER_SIZE => self.out_of_memory_error(bytes, self.available_bytes()),
            other => Error::device(&self.target.info.name, call, error_text(other)),
        }
    }

    fn out_of_memory_error(&self, bytes: usize, available: u64) -> Error {
        let available = available.min(self.target.max_allocation);
        Error::OutOfMemory { device: self.target.info.name.clone(), requested: bytes as u64, available }
    }

    /// Adds `bytes` to the count of allocated bytes before they are allocated. Fails if the device has too little
    /// memory left or allows no buffer of this size.
    fn reserve_bytes(&self, bytes: usize) -> Result<()> {
        let before = self.allocated.fetch_add(bytes as u64, Ordering::SeqCst);
        let left = self.target.info.memory.saturating_sub(before);
        if bytes as u64 > left.min(self.target.max_allocation) {
            self.unreserve_bytes(bytes);
            return Err(self.out_of_memory_error(bytes, left));
        }
        Ok(())
    }

    fn unreserve_bytes(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes as u64, Ordering::SeqCst);
    }

    fn create_buffer(&self, bytes: usize) -> ClResult<ClOwned> {
        // SAFETY: no host pointer is given, so none is kept.
        let buffer = unsafe {
            memory::create_buffer(self.target.context.as_raw(), memory::CL_MEM_READ_WRITE, bytes, ptr::null_mut())?
        };
        // SAFETY: the buffer was just made and its reference is ours.
        let buffer = unsafe { ClOwned::new(buffer, memory::release_mem_object) };
        // Most drivers reserve memory at a buffer's first use: use it now, so that a lack of memory shows here.
        // SAFETY: a buffer has at least 4 bytes.
        unsafe { enqueue_zero_fill(self.service.as_raw(), buffer.as_raw(), 0, 4)? };
        queue::finish(self.service.as_raw())?;
        Ok(buffer)
    }

    fn create_pinned_memory(&self, bytes: usize) -> ClResult<PinnedAlloc> {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: no host pointer is given, so none is kept.
        let buffer = unsafe { memory::create_buffer(self.target.context.as_raw(), flags, bytes, ptr::null_mut())? };
        // SAFETY: the buffer was just made and its reference is ours.
        let buffer = unsafe { ClOwned::new(buffer, memory::release_mem_object) };
        let mut pointer: *mut c_void = ptr::null_mut();
        let access = memory::CL_MAP_READ | memory::CL_MAP_WRITE;
        // SAFETY: the range is the whole buffer; the call waits until it is mapped.
        release_command_event(unsafe {
            queue::enqueue_map_buffer(
                self.service.as_raw(),
                buffer.as_raw(),
                CL_TRUE,
                access,
                0,
                bytes,
                &mut pointer,
                0,
                ptr::null(),
            )
        })?;
        Ok(PinnedAlloc { pointer: pointer.cast(), bytes, handle: into_raw(buffer) as usize })
    }

    /// Returns whether the command of `event` has completed. Returns an error if the command failed.
    fn is_event_complete(&self, event: cl_event) -> Result<bool> {
        let status = event::get_event_data(event, event::CL_EVENT_COMMAND_EXECUTION_STATUS);
        // The status is a signed 32-bit number.
        let status = (decode_number(&self.check_call("clGetEventInfo", status)?) as u32).cast_signed();
        if status < 0 {
            return Err(Error::device(&self.target.info.name, "a queued command", error_text(status)));
        }
        Ok(status == event::CL_COMPLETE)
    }

    fn check_launch(&self, kernel: &ClKernel, group_size: usize, arguments: usize) -> Result<()> {
        // This is a device error, not a bad argument of the user's: another backend may succeed.
        let refuse = |what: &str, expected: String, actual: usize| {
            let reason = format!("{what}: expected {expected}, got {actual}");
            Err(Error::device(&self.target.info.name, format!("launch of {}", kernel.name), reason))
        };
        if arguments != kernel.arguments {
            return refuse("number of arguments", kernel.arguments.to_string(), arguments);
        }
        if group_size == 0 || group_size > kernel.max_group {
            return refuse("work-group size", format!("1 to {}", kernel.max_group), group_size);
        }
        Ok(())
    }
}

/// Creates a sub-buffer of `bytes` of the allocation `memory`, from byte `offset` on.
///
/// # Safety
/// The memory is a live block of the driver's, and the range is inside it.
unsafe fn create_sub_buffer(memory: MemoryHandle, offset: usize, bytes: usize) -> ClResult<ClOwned> {
    let (region, flags) = (cl_buffer_region { origin: offset, size: bytes }, memory::CL_MEM_READ_WRITE);
    let (block, kind) = (memory.0 as cl_mem, memory::CL_BUFFER_CREATE_TYPE_REGION);
    // SAFETY: passed on from the caller; the region is read before the call returns.
    let part = unsafe { memory::create_sub_buffer(block, flags, kind, (&raw const region).cast())? };
    // SAFETY: the part was just made and its reference is ours.
    Ok(unsafe { ClOwned::new(part, memory::release_mem_object) })
}

// SAFETY: handles are references to OpenCL objects, which live until their release in `*_free`; queues
// are made in-order; host memory is written by `copy_d2h` alone, in the range it names.
unsafe impl Driver for OpenClDriver {
    fn info(&self) -> &DeviceInfo {
        &self.target.info
    }

    fn free_memory(&self) -> Result<u64> {
        Ok(self.available_bytes())
    }

    fn memory_allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        let bytes = bytes.max(4);
        self.reserve_bytes(bytes)?;
        match self.create_buffer(bytes) {
            Ok(buffer) => Ok(MemoryHandle(into_raw(buffer) as usize)),
            Err(code) => {
                self.unreserve_bytes(bytes);
                Err(self.allocation_error("clCreateBuffer", bytes, code))
            }
        }
    }

    unsafe fn memory_free(&self, memory: MemoryHandle) {
        drop(lock(&self.parts).remove(&memory));
        let size = memory::get_mem_object_data(memory.0 as cl_mem, memory::CL_MEM_SIZE);
        self.unreserve_bytes(size.map_or(0, |bytes| decode_number(&bytes) as usize));
        // SAFETY: the handle's reference is given back, once.
        drop(unsafe { ClOwned::new(memory.0 as cl_mem, memory::release_mem_object) });
    }

    fn supports_suballocation(&self) -> bool {
        self.target.has_parts
    }

    fn jits_per_launch_shape(&self) -> bool {
        self.target.specialises
    }

    unsafe fn sub_buffer(&self, memory: MemoryHandle, offset: usize, bytes: usize) -> Result<MemoryHandle> {
        let mut parts = lock(&self.parts);
        let part = match parts.entry(memory).or_default().entry((offset, bytes)) {
            Entry::Occupied(part) => part.into_mut(),
            Entry::Vacant(part) => {
                // SAFETY: passed on from the caller.
                let created = unsafe { create_sub_buffer(memory, offset, bytes) };
                part.insert(self.check_call("clCreateSubBuffer", created)?)
            }
        };
        Ok(MemoryHandle(part.as_raw() as usize))
    }

    fn pinned_allocate(&self, bytes: usize) -> Result<PinnedAlloc> {
        self.create_pinned_memory(bytes).map_err(|code| self.allocation_error("clEnqueueMapBuffer", bytes, code))
    }

    unsafe fn pinned_free(&self, pinned: PinnedAlloc) {
        // SAFETY: the handle's reference is given back, once.
        let buffer = unsafe { ClOwned::new(pinned.handle as cl_mem, memory::release_mem_object) };
        // SAFETY: the pointer is the buffer's mapping.
        let unmapped = unsafe {
            queue::enqueue_unmap_mem_object(
                self.service.as_raw(),
                buffer.as_raw(),
                pinned.pointer.cast(),
                0,
                ptr::null(),
            )
        };
        if let Err(code) = release_command_event(unmapped).and_then(|()| queue::finish(self.service.as_raw())) {
            log::warn!("{}: unmapping a staging slot: {}", self.target.info.name, error_text(code));
        }
    }

    fn stream_create(&self) -> Result<StreamHandle> {
        self.target.create_queue().map(|queue| StreamHandle(into_raw(queue) as usize))
    }

    unsafe fn stream_free(&self, stream: StreamHandle) {
        // SAFETY: the handle's reference is given back, once.
        drop(unsafe { ClOwned::new(stream.0 as cl_command_queue, queue::release_command_queue) });
    }

    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Result<()> {
        // clFinish does not report whether commands failed; an event behind them does.
        // SAFETY: passed on from the caller.
        let event = unsafe { self.event_record(stream)? };
        // SAFETY: the event was just recorded and is freed here.
        let result = unsafe {
            let result = self.event_synchronize(event);
            self.event_free(event);
            result
        };
        if result.is_err() {
            // The event may have failed with an early command: the queue must still be empty.
            self.check_call("clFinish", queue::finish(stream.0 as cl_command_queue))?;
        }
        result
    }

    unsafe fn event_record(&self, stream: StreamHandle) -> Result<EventHandle> {
        let stream = stream.0 as cl_command_queue;
        // SAFETY: the queue is live; an empty list makes the marker wait for all before it.
        let event = unsafe { queue::enqueue_marker_with_wait_list(stream, 0, ptr::null()) };
        let event = self.check_call("clEnqueueMarkerWithWaitList", event)?;
        if let Err(error) = self.check_call("clFlush", queue::flush(stream)) {
            // SAFETY: the event is ours and not used again.
            unsafe { self.event_free(EventHandle(event as usize)) };
            return Err(error);
        }
        Ok(EventHandle(event as usize))
    }

    unsafe fn event_free(&self, event: EventHandle) {
        // SAFETY: the handle's reference is given back, once.
        drop(unsafe { ClOwned::new(event.0 as cl_event, event::release_event) });
    }

    unsafe fn event_query(&self, event: EventHandle) -> Result<bool> {
        self.is_event_complete(event.0 as cl_event)
    }

    unsafe fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        let event = event.0 as cl_event;
        let waited = event::wait_for_events(&[event]);
        // The event's own status says more than the error of the wait.
        self.is_event_complete(event)?;
        self.check_call("clWaitForEvents", waited)
    }

    unsafe fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f64> {
        let time = |event: EventHandle| {
            let time = event::get_event_profiling_data(event.0 as cl_event, event::CL_PROFILING_COMMAND_END);
            self.check_call("clGetEventProfilingInfo", time).map(|bytes| decode_number(&bytes))
        };
        let nanoseconds = time(end)?.saturating_sub(time(start)?);
        Ok(nanoseconds as f64 * 1e-9)
    }

    unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        let event = event.0 as cl_event;
        // SAFETY: queue and event are live and of one context.
        let barrier =
            unsafe { queue::enqueue_barrier_with_wait_list(stream.0 as cl_command_queue, 1, &raw const event) };
        self.check_call("clEnqueueBarrierWithWaitList", release_command_event(barrier))
    }

    unsafe fn copy_h2d(
        &self,
        stream: StreamHandle,
        to: MemoryHandle,
        offset: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise: live handles, a range inside, `from` kept until it is passed.
        let copied = unsafe {
            upload_without_driver_copy::enqueue_upload(
                stream.0 as cl_command_queue,
                to.0 as cl_mem,
                offset,
                from,
                bytes,
            )
        };
        self.check_call("clEnqueueWriteBuffer", copied)
    }

    unsafe fn copy_d2h(
        &self,
        stream: StreamHandle,
        to: *mut u8,
        from: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller's promise: live handles, a range inside, `to` kept until it is passed.
        let event = unsafe {
            queue::enqueue_read_buffer(
                stream.0 as cl_command_queue,
                from.0 as cl_mem,
                CL_FALSE,
                offset,
                bytes,
                to.cast(),
                0,
                ptr::null(),
            )
        };
        self.check_call("clEnqueueReadBuffer", release_command_event(event))
    }

    unsafe fn copy_d2d(
        &self,
        stream: StreamHandle,
        to: (MemoryHandle, usize),
        from: (MemoryHandle, usize),
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (source, target) = (from.0.0 as cl_mem, to.0.0 as cl_mem);
        // SAFETY: the caller's promise: live handles and ranges inside.
        let event = unsafe {
            queue::enqueue_copy_buffer(
                stream.0 as cl_command_queue,
                source,
                target,
                from.1,
                to.1,
                bytes,
                0,
                ptr::null(),
            )
        };
        self.check_call("clEnqueueCopyBuffer", release_command_event(event))
    }

    unsafe fn zero_memory(
        &self,
        stream: StreamHandle,
        memory: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: passed on from the caller.
        let filled = unsafe { enqueue_zero_fill(stream.0 as cl_command_queue, memory.0 as cl_mem, offset, bytes) };
        self.check_call("clEnqueueFillBuffer", filled)
    }

    fn load_kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        self.programs.load_kernel(&self.target, source, name)
    }

    unsafe fn launch(
        &self,
        stream: StreamHandle,
        kernel: KernelHandle,
        shape: LaunchConfig,
        args: &[Arg],
    ) -> Result<()> {
        let kernel = self.programs.get_kernel(kernel)?;
        let (groups, group_size) = (shape.groups as usize, shape.group_size as usize);
        self.check_launch(&kernel, group_size, args.len())?;
        let stream = stream.0 as cl_command_queue;
        // SAFETY: handles are live and arguments match, as the caller promises.
        let launched = unsafe { enqueue_kernel(stream, &kernel, groups, group_size, args) };
        self.check_call(&format!("launch of {}", kernel.name), launched)?;
        self.check_call("clFlush", queue::flush(stream))
    }
}
