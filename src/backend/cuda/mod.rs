//! NVIDIA GPUs through the CUDA driver, which is found at run time; the only user of cust.
//!
//! Kernels are fatbins that `build.rs` compiled; without them the backend reports why it has no device. Each device
//! works in its primary context, which other users of the process share.

mod context;
mod discovery;
mod launch;
mod modules;
mod multi_device_mapping;
mod peer_access;
mod upload_without_driver_copy;

use std::ffi::c_void;

use cust::device::Device as CudaDevice;
use cust::sys as cu;

pub(super) use discovery::{driver_version, kernel_build_info, list_cards};
pub use modules::{BUILD_NOTE, CLMAD_NOTE, has_kernels};

use super::{
    Arg, DeviceInfo, Driver, EventHandle, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle,
};
use crate::{Error, Result};
use context::{CurrentContextGuard, PrimaryContext, check_status, cust_error_text, error_text};
use discovery::{capability_number, describe_device, is_supported, supported_archs_text, unavailable_error};
use launch::CudaLaunch;
use modules::{ARCHITECTURES, LoadedModules, decode_kernel_handle};
use peer_access::PeerAccess;

/// Advice in the error if no kernels were built in.
const HINT: &str = "install nvcc (docs/troubleshooting.md says how), run `cargo clean -p proofwarp` and build again";

/// Opens every CUDA device that the built-in kernels support.
///
/// # Errors
/// - [`Error::Unavailable`]: no kernels were built in.
/// - [`Error::Unavailable`]: there is no driver, or it lists no device.
/// - [`Error::Unavailable`]: the kernels support none of the devices.
/// - [`Error::Unavailable`]: the driver does not describe a device.
/// - [`Error::Device`]: the primary context of a device could not be opened.
///
/// [`Error::Unavailable`] tells the reason.
pub fn drivers() -> Result<Vec<CudaDriver>> {
    proofwarp_cuda_driver::link();
    if !BUILD_NOTE.is_empty() {
        return Err(unavailable_error(format!("kernels were not built in: {BUILD_NOTE}; {HINT}")));
    }
    if let Some(reason) = proofwarp_cuda_driver::load_error() {
        return Err(unavailable_error(format!("no driver: {reason}")));
    }
    let failed = |error| unavailable_error(cust_error_text(error));
    cust::init(cust::CudaFlags::empty())
        .map_err(|error| unavailable_error(format!("no device: {}", cust_error_text(error))))?;
    let devices = CudaDevice::devices().map_err(failed)?;
    let mut drivers = Vec::new();
    let mut refused = Vec::new();
    for (ordinal, device) in devices.enumerate() {
        let device = device.map_err(failed)?;
        match capability_number(device).map_err(failed)? {
            served if is_supported(served, ARCHITECTURES) => drivers.push(CudaDriver::new(ordinal, device)?),
            other => refused.push(format!("device {ordinal} is of architecture {other}")),
        }
    }
    match (drivers.is_empty(), refused.is_empty()) {
        (false, _) => Ok(drivers),
        (true, true) => Err(unavailable_error("the driver lists no device")),
        (true, false) => {
            Err(unavailable_error(format!("{}: expected {}", refused.join(", "), supported_archs_text(ARCHITECTURES))))
        }
    }
}

/// Opens the drivers of [`drivers`] for the list of backends. Logs the error if the build has no kernels, because cargo
/// hides the build warnings of dependencies.
pub(super) fn open_drivers() -> Result<Vec<Box<dyn Driver>>> {
    let drivers = drivers().inspect_err(|error| {
        if !BUILD_NOTE.is_empty() {
            log::error!("{error}");
        }
    })?;
    Ok(drivers.into_iter().map(|driver| Box::new(driver) as Box<dyn Driver>).collect())
}

/// Drives one CUDA device, in the device's primary context.
#[derive(Debug)]
pub struct CudaDriver {
    info: DeviceInfo,
    primary: PrimaryContext,
    modules: LoadedModules,
    reach: PeerAccess,
}

impl CudaDriver {
    fn new(ordinal: usize, device: CudaDevice) -> Result<Self> {
        let info = describe_device(ordinal, device).map_err(|error| unavailable_error(cust_error_text(error)))?;
        let primary = PrimaryContext::new(device)
            .map_err(|error| Error::device(&info.name, "primary context", cust_error_text(error)))?;
        Ok(Self { info, primary, modules: LoadedModules::default(), reach: PeerAccess::default() })
    }

    /// Makes the device's context current on this thread until the returned guard is dropped. The guard then restores
    /// the caller's context.
    fn enter_context(&self) -> Result<CurrentContextGuard<'_>> {
        self.primary.enter().map_err(|code| Error::device(&self.info.name, "cuCtxPushCurrent", error_text(code)))
    }

    fn device_by_ordinal(&self, ordinal: usize) -> Result<CudaDevice> {
        CudaDevice::get_device(ordinal as u32)
            .map_err(|error| Error::device(&self.info.name, "cuDeviceGet", cust_error_text(error)))
    }

    fn check_call(&self, call: &str, code: cu::CUresult) -> Result<()> {
        check_status(code).map_err(|code| Error::device(&self.info.name, call, error_text(code)))
    }

    fn check_allocation(&self, call: &str, bytes: usize, code: cu::CUresult) -> Result<()> {
        check_status(code).map_err(|code| self.allocation_error(call, bytes, code))
    }

    /// Returns the error for an allocation of `bytes` that failed with status `code` in the driver function `call`.
    fn allocation_error(&self, call: &str, bytes: usize, code: cu::CUresult) -> Error {
        if code == cu::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (device, available) = (self.info.name.clone(), self.free_memory().unwrap_or(0));
            return Error::OutOfMemory { device, requested: bytes as u64, available };
        }
        Error::device(&self.info.name, call, error_text(code))
    }
}

fn to_cu_stream(handle: StreamHandle) -> cu::CUstream {
    handle.0 as cu::CUstream
}

fn to_cu_event(handle: EventHandle) -> cu::CUevent {
    handle.0 as cu::CUevent
}

fn device_address(memory: MemoryHandle, offset: usize) -> cu::CUdeviceptr {
    (memory.0 + offset) as cu::CUdeviceptr
}

// SAFETY: handles are the driver's own, valid until the matching call that frees them; a CUDA stream runs
// its commands in order; copies write only the ranges that they are given. The driver may be called from
// any thread.
unsafe impl Driver for CudaDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn free_memory(&self) -> Result<u64> {
        let _current = self.enter_context()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: both pointers are to live variables.
        self.check_call("cuMemGetInfo", unsafe { cu::cuMemGetInfo_v2(&raw mut free, &raw mut total) })?;
        Ok(free as u64)
    }

    fn memory_allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        let _current = self.enter_context()?;
        let mut memory = 0;
        // SAFETY: the pointer is to a live variable.
        self.check_allocation("cuMemAlloc", bytes, unsafe { cu::cuMemAlloc_v2(&raw mut memory, bytes) })?;
        Ok(MemoryHandle(memory as usize))
    }

    unsafe fn memory_free(&self, memory: MemoryHandle) {
        let Ok(_current) = self.enter_context() else { return };
        // SAFETY: passed on from the caller. A failure means that the device is lost, and its memory with it.
        let _ = unsafe { cu::cuMemFree_v2(device_address(memory, 0)) };
    }

    unsafe fn sub_buffer(&self, memory: MemoryHandle, offset: usize, _bytes: usize) -> Result<MemoryHandle> {
        Ok(MemoryHandle(memory.0 + offset))
    }

    fn alloc_peer_memory(&self, ordinals: &[usize], part_bytes: usize) -> Result<MemoryHandle> {
        let _current = self.enter_context()?;
        let device = |ordinal: &usize| self.device_by_ordinal(*ordinal).map(|device| device.as_raw());
        let devices = ordinals.iter().map(device).collect::<Result<Vec<_>>>()?;
        let range = multi_device_mapping::MappedRange::new(&devices, part_bytes);
        let range = range.map_err(|(call, code)| self.allocation_error(&call, part_bytes, code))?;
        Ok(MemoryHandle(range.into_address() as usize))
    }

    unsafe fn free_peer_memory(&self, memory: MemoryHandle, parts: usize, part_bytes: usize) {
        let Ok(_current) = self.enter_context() else { return };
        drop(multi_device_mapping::MappedRange::from_address(device_address(memory, 0), parts, part_bytes));
    }

    fn has_p2p_link(&self, ordinal: usize) -> bool {
        let device = |ordinal| self.device_by_ordinal(ordinal).ok().map(|device| device.as_raw());
        let pair = device(self.info.ordinal).zip(device(ordinal));
        ordinal == self.info.ordinal
            || pair.is_some_and(|(own, other)| multi_device_mapping::can_access_peer(own, other).unwrap_or(false))
    }

    fn enable_peer_access(&self, ordinal: usize) -> Result<()> {
        if ordinal == self.info.ordinal {
            return Ok(());
        }
        let _current = self.enter_context()?;
        let opened = self
            .reach
            .ensure_enabled(self.device_by_ordinal(self.info.ordinal)?, (ordinal, self.device_by_ordinal(ordinal)?));
        opened.map_err(|(call, code)| Error::device(&self.info.name, &call, error_text(code)))
    }

    fn pinned_allocate(&self, bytes: usize) -> Result<PinnedAlloc> {
        let _current = self.enter_context()?;
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the pointer is to a live variable.
        self.check_allocation("cuMemAllocHost", bytes, unsafe { cu::cuMemAllocHost_v2(&raw mut pointer, bytes) })?;
        Ok(PinnedAlloc { pointer: pointer.cast(), bytes, handle: 0 })
    }

    unsafe fn pinned_free(&self, pinned: PinnedAlloc) {
        let Ok(_current) = self.enter_context() else { return };
        // SAFETY: passed on from the caller; a failure leaks the block.
        let _ = unsafe { cu::cuMemFreeHost(pinned.pointer.cast()) };
    }

    fn stream_create(&self) -> Result<StreamHandle> {
        let _current = self.enter_context()?;
        let mut stream = std::ptr::null_mut();
        let flags = cu::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the pointer is to a live variable.
        self.check_call("cuStreamCreate", unsafe { cu::cuStreamCreateWithPriority(&raw mut stream, flags, 0) })?;
        Ok(StreamHandle(stream as usize))
    }

    unsafe fn stream_free(&self, stream: StreamHandle) {
        let Ok(_current) = self.enter_context() else { return };
        // SAFETY: passed on from the caller; a failure leaks the stream.
        let _ = unsafe { cu::cuStreamDestroy_v2(to_cu_stream(stream)) };
    }

    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Result<()> {
        let _current = self.enter_context()?;
        // SAFETY: passed on from the caller.
        self.check_call("cuStreamSynchronize", unsafe { cu::cuStreamSynchronize(to_cu_stream(stream)) })
    }

    unsafe fn event_record(&self, stream: StreamHandle) -> Result<EventHandle> {
        let _current = self.enter_context()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: the pointer is to a live variable.
        self.check_call("cuEventCreate", unsafe { cu::cuEventCreate(&raw mut event, 0) })?;
        // SAFETY: the event was just made; the stream is live.
        let recorded = self.check_call("cuEventRecord", unsafe { cu::cuEventRecord(event, to_cu_stream(stream)) });
        let event = EventHandle(event as usize);
        if recorded.is_err() {
            // SAFETY: the event is live and not used again.
            unsafe { self.event_free(event) };
        }
        recorded.map(|()| event)
    }

    unsafe fn event_free(&self, event: EventHandle) {
        let Ok(_current) = self.enter_context() else { return };
        // SAFETY: passed on from the caller; a failure leaks the event.
        let _ = unsafe { cu::cuEventDestroy_v2(to_cu_event(event)) };
    }

    unsafe fn event_query(&self, event: EventHandle) -> Result<bool> {
        let _current = self.enter_context()?;
        // SAFETY: passed on from the caller.
        match unsafe { cu::cuEventQuery(to_cu_event(event)) } {
            cu::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            other => self.check_call("cuEventQuery", other).map(|()| true),
        }
    }

    unsafe fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        let _current = self.enter_context()?;
        // SAFETY: passed on from the caller.
        self.check_call("cuEventSynchronize", unsafe { cu::cuEventSynchronize(to_cu_event(event)) })
    }

    unsafe fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f64> {
        let _current = self.enter_context()?;
        let mut milliseconds = 0.0;
        // SAFETY: passed on from the caller; the pointer is to a live variable.
        let code = unsafe { cu::cuEventElapsedTime(&raw mut milliseconds, to_cu_event(start), to_cu_event(end)) };
        self.check_call("cuEventElapsedTime", code)?;
        Ok(f64::from(milliseconds) / 1e3)
    }

    unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        let _current = self.enter_context()?;
        // SAFETY: passed on from the caller.
        self.check_call("cuStreamWaitEvent", unsafe {
            cu::cuStreamWaitEvent(to_cu_stream(stream), to_cu_event(event), 0)
        })
    }

    unsafe fn copy_h2d(
        &self,
        stream: StreamHandle,
        to: MemoryHandle,
        offset: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let _current = self.enter_context()?;
        // SAFETY: passed on from the caller.
        let copied = unsafe {
            upload_without_driver_copy::enqueue_upload(device_address(to, offset), from, bytes, to_cu_stream(stream))
        };
        copied.map_err(|(call, code)| Error::device(&self.info.name, call, error_text(code)))
    }

    unsafe fn copy_d2h(
        &self,
        stream: StreamHandle,
        to: *mut u8,
        from: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        let _current = self.enter_context()?;
        // SAFETY: passed on from the caller.
        let code =
            unsafe { cu::cuMemcpyDtoHAsync_v2(to.cast(), device_address(from, offset), bytes, to_cu_stream(stream)) };
        self.check_call("cuMemcpyDtoHAsync", code)
    }

    unsafe fn copy_d2d(
        &self,
        stream: StreamHandle,
        to: (MemoryHandle, usize),
        from: (MemoryHandle, usize),
        bytes: usize,
    ) -> Result<()> {
        let _current = self.enter_context()?;
        let (to, from) = (device_address(to.0, to.1), device_address(from.0, from.1));
        // SAFETY: passed on from the caller.
        self.check_call("cuMemcpyDtoDAsync", unsafe { cu::cuMemcpyDtoDAsync_v2(to, from, bytes, to_cu_stream(stream)) })
    }

    unsafe fn zero_memory(
        &self,
        stream: StreamHandle,
        memory: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        let _current = self.enter_context()?;
        let start = device_address(memory, offset);
        // SAFETY: passed on from the caller; offset and length are multiples of 4.
        self.check_call("cuMemsetD32Async", unsafe { cu::cuMemsetD32Async(start, 0, bytes / 4, to_cu_stream(stream)) })
    }

    fn load_kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        let _current = self.enter_context()?;
        self.modules.load_kernel(&self.info, source, name)
    }

    unsafe fn launch(
        &self,
        stream: StreamHandle,
        kernel: KernelHandle,
        shape: LaunchConfig,
        args: &[Arg],
    ) -> Result<()> {
        let _current = self.enter_context()?;
        // Each argument gets a word of its own; the driver reads as many bytes as the parameter has, from the low end
        // (CUDA's hosts are little-endian).
        let mut words: Vec<u64> = args.iter().map(argument_word).collect();
        let mut pointers: Vec<*mut c_void> = args.iter().zip(&mut words).map(argument_pointer).collect();
        let (function, early) = decode_kernel_handle(kernel);
        let launch = CudaLaunch {
            function,
            shape,
            stream: to_cu_stream(stream),
            shared_bytes: shared_memory_bytes(args),
            early,
        };
        // SAFETY: passed on from the caller; the pointers are to live words or values, which the call copies.
        let code = unsafe { launch.enqueue(&mut pointers) };
        self.check_call("cuLaunchKernel", code)
    }
}

fn argument_word(arg: &Arg) -> u64 {
    match *arg {
        Arg::Memory(memory) => memory.0 as u64,
        Arg::U32(number) => number.into(),
        Arg::U64(number) => number,
        Arg::Value(..) | Arg::Local(_) => 0,
    }
}

/// Returns the address at which the driver reads an argument: its value in host memory, or else `word`.
fn argument_pointer((arg, word): (&Arg, &mut u64)) -> *mut c_void {
    match arg {
        Arg::Value(value, _) => value.cast_mut().cast(),
        _ => std::ptr::from_mut(word).cast(),
    }
}

/// Returns the total bytes of dynamic shared memory that `args` request.
fn shared_memory_bytes(args: &[Arg]) -> u32 {
    args.iter().map(|arg| if let Arg::Local(bytes) = arg { *bytes } else { 0 }).sum()
}
