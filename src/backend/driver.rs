//! The raw contract that a backend implements.

use std::fmt;

use super::DeviceInfo;
use crate::Result;

/// Identifies a device allocation: a `CUdeviceptr` or a `cl_mem`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryHandle(pub usize);
/// Identifies an in-order queue: a `CUstream` or a `cl_command_queue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamHandle(pub usize);
/// Identifies a compiled kernel: a `CUfunction`, or an index in the OpenCL backend's list of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelHandle(pub usize);
/// Identifies an event on a stream: a `CUevent` or a `cl_event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHandle(pub usize);

/// Describes pinned (page-locked) host memory, which the device can copy to and from asynchronously.
#[derive(Debug, Clone, Copy)]
pub struct PinnedAlloc {
    /// Start of the memory on the host.
    pub pointer: *mut u8,
    /// Size in bytes.
    pub bytes: usize,
    /// Backend's handle for freeing the memory: a `cl_mem`, or 0 on CUDA.
    pub handle: usize,
}

// SAFETY: a `PinnedAlloc` only describes memory that any thread may use; its holder (`staging::StagingRing`) hands it
// to one thread at a time.
unsafe impl Send for PinnedAlloc {}
// SAFETY: as above; the description itself is never mutated.
unsafe impl Sync for PinnedAlloc {}

/// Describes a kernel argument.
#[derive(Debug, Clone, Copy)]
pub enum Arg {
    /// Device memory.
    Memory(MemoryHandle),
    /// A 32-bit number.
    U32(u32),
    /// A 64-bit number.
    U64(u64),
    /// A value in host memory: its address and its size in bytes. CUDA takes the size from the kernel's parameter
    /// instead. The value is read when the kernel is queued.
    Value(*const u8, usize),
    /// Bytes of memory local to each work-group. On CUDA the kernel declares this memory as `extern __shared__`, and
    /// the argument is a pointer that it does not read.
    Local(u32),
}

/// Holds the number and size of a launch's work-groups, and whether other streams' kernels should run concurrently.
#[derive(Debug, Clone, Copy)]
pub struct LaunchConfig {
    /// Number of work-groups.
    pub groups: u32,
    /// Number of work-items in each work-group.
    pub group_size: u32,
    /// Whether kernels of other streams should run concurrently.
    pub beside: bool,
}

/// Holds the source or binary of a module's kernels.
#[derive(Clone, Copy)]
pub enum KernelCode<'a> {
    /// A function that returns the OpenCL source. It is called only if the module is not compiled yet. CUDA uses the
    /// kernels that the build compiled under the module's name.
    Text(&'a dyn Fn() -> String),
    /// A binary that the driver loads as it is: a fatbin, cubin or PTX, or an OpenCL program's binary.
    Binary(&'a [u8]),
}

/// Names a module of kernels, and holds its source or binary.
#[derive(Clone, Copy)]
pub struct KernelSource<'a> {
    /// Unique name of the module.
    pub module: &'a str,
    /// Source or binary of the module's kernels.
    pub code: KernelCode<'a>,
}

impl KernelSource<'_> {
    /// Returns [`Error::NoKernel`](crate::Error::NoKernel) for the kernel `name`, which the module lacks on `device`.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub(super) fn no_kernel_error(&self, device: &str, name: &str) -> crate::Error {
        let [device, module, name] = [device, self.module, name].map(str::to_owned);
        crate::Error::NoKernel { device, module, name }
    }
}

impl fmt::Debug for KernelSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelSource").field("module", &self.module).finish_non_exhaustive()
    }
}

/// Drives one device through raw handles. All methods may be called from any thread at any time.
///
/// # Safety
/// An implementation must do the following:
/// - It keeps each handle valid until the matching `*_free`.
/// - It runs the commands of one stream in order.
/// - It writes to host memory only what a copy names.
/// - After a failed `stream_synchronize` or `event_synchronize`, no command of the stream runs any more.
///
/// Callers of the unsafe methods pass live handles of this driver and ranges inside their allocations. They keep host
/// memory of an asynchronous copy alive and otherwise untouched until the stream has passed it.
pub unsafe trait Driver: Send + Sync + fmt::Debug {
    /// Returns the description of the device, such as its name and memory size.
    fn info(&self) -> &DeviceInfo;
    /// Returns the device's free memory in bytes, as far as the driver reports it.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    fn free_memory(&self) -> Result<u64>;
    /// Allocates `bytes` of device memory with undefined contents.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory): the device has too little memory, or allows no allocation
    ///   of this size.
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    fn memory_allocate(&self, bytes: usize) -> Result<MemoryHandle>;
    /// Frees device memory from [`Self::memory_allocate`] that no queued command uses any more.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn memory_free(&self, memory: MemoryHandle);
    /// Returns whether parts of an allocation may be used as memory of their own, by [`Self::sub_buffer`].
    fn supports_suballocation(&self) -> bool {
        true
    }
    /// Returns a handle of `bytes` of the allocation `memory`, from byte `offset` on. `offset` is a multiple of 4096.
    /// The handle is valid as long as the allocation.
    ///
    /// # Safety
    /// See the trait. Parts in use do not overlap, and the block itself is not used meanwhile.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn sub_buffer(&self, memory: MemoryHandle, offset: usize, bytes: usize) -> Result<MemoryHandle>;
    /// Allocates memory of several of the backend's devices at consecutive addresses: `part_bytes` on each device of
    /// `ordinals`, in this order. If the backend's devices do not share memory, all of `ordinals` must be this
    /// device.
    ///
    /// # Errors
    /// - [`Error::Unsupported`](crate::Error::Unsupported): the backend's devices do not share memory.
    /// - [`Error::Device`](crate::Error::Device): on CUDA, the devices cannot access each other's memory.
    /// - [`Error::Device`](crate::Error::Device): on CUDA, `part_bytes` is no multiple of the driver's granule.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory): one device has too little memory.
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    fn alloc_peer_memory(&self, ordinals: &[usize], part_bytes: usize) -> Result<MemoryHandle> {
        let info = self.info();
        if ordinals.iter().all(|ordinal| *ordinal == info.ordinal) {
            return self.memory_allocate(ordinals.len() * part_bytes);
        }
        let reason = format!("devices of the {} backend do not reach each other's memory", info.backend);
        Err(crate::Error::unsupported(&info.name, "memory of several devices", reason))
    }
    /// Returns whether copies from the backend's device number `_ordinal` go directly from its memory, not through
    /// the host.
    fn has_p2p_link(&self, _ordinal: usize) -> bool {
        false
    }
    /// Lets copies go directly from the memory of the backend's device number `_ordinal`, if the two devices are
    /// linked.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    fn enable_peer_access(&self, _ordinal: usize) -> Result<()> {
        Ok(())
    }
    /// Frees memory from [`Self::alloc_peer_memory`], which has `_parts` parts of `_part_bytes` each. No queued
    /// command of any device may use it any more.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn free_peer_memory(&self, memory: MemoryHandle, _parts: usize, _part_bytes: usize) {
        // SAFETY: passed on from the caller.
        unsafe { self.memory_free(memory) };
    }
    /// Allocates `bytes` of pinned (page-locked) host memory.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory): there is too little memory.
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    fn pinned_allocate(&self, bytes: usize) -> Result<PinnedAlloc>;
    /// Frees pinned host memory from [`Self::pinned_allocate`].
    ///
    /// # Safety
    /// See the trait.
    unsafe fn pinned_free(&self, pinned: PinnedAlloc);
    /// Creates an in-order command queue that runs concurrently with other queues.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    fn stream_create(&self) -> Result<StreamHandle>;
    /// Destroys a command queue whose commands have all run.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn stream_free(&self, stream: StreamHandle);
    /// Waits on the host until all commands of the queue `stream` have run.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    /// - [`Error::Device`](crate::Error::Device): a command queued before failed.
    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Result<()>;
    /// Records an event on the queue `stream`, behind all commands queued so far.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn event_record(&self, stream: StreamHandle) -> Result<EventHandle>;
    /// Frees an event.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn event_free(&self, event: EventHandle);
    /// Returns whether the queue has passed `event`: all commands before the event have run.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    /// - [`Error::Device`](crate::Error::Device): a command queued before failed.
    unsafe fn event_query(&self, event: EventHandle) -> Result<bool>;
    /// Waits on the host until the queue has passed `event`.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    /// - [`Error::Device`](crate::Error::Device): a command queued before failed.
    unsafe fn event_synchronize(&self, event: EventHandle) -> Result<()>;
    /// Returns the seconds from event `start` to event `end`, which have both been passed.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f64>;
    /// Makes commands that are queued on `stream` from now on wait for `event`, an event of another queue.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()>;
    /// Makes commands that are queued on `stream` from now on wait for all commands that are queued on `other` now.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn stream_wait_stream(&self, stream: StreamHandle, other: StreamHandle) -> Result<()> {
        // SAFETY: passed on from the caller; the event is used only here.
        unsafe {
            let event = self.event_record(other)?;
            let waits = self.stream_wait_event(stream, event);
            self.event_free(event);
            waits
        }
    }
    /// Queues a copy of `bytes` from pinned host memory at `from` to device memory `to`, from byte `offset` on.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn copy_h2d(
        &self,
        stream: StreamHandle,
        to: MemoryHandle,
        offset: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;
    /// Queues a copy of `bytes` of device memory `from`, from byte `offset` on, to pinned host memory at `to`.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn copy_d2h(
        &self,
        stream: StreamHandle,
        to: *mut u8,
        from: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()>;
    /// Queues a copy of `bytes` between device memory. `to` and `from` are memory and a byte offset in it.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn copy_d2d(
        &self,
        stream: StreamHandle,
        to: (MemoryHandle, usize),
        from: (MemoryHandle, usize),
        bytes: usize,
    ) -> Result<()>;
    /// Queues a command that sets `bytes` of `memory`, from byte `offset` on, to zero. `offset` and `bytes` are
    /// multiples of 4.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    unsafe fn zero_memory(&self, stream: StreamHandle, memory: MemoryHandle, offset: usize, bytes: usize)
    -> Result<()>;
    /// Returns the kernel `name` of `source`, compiling or loading its module first if necessary.
    ///
    /// # Errors
    /// - [`Error::NoKernel`](crate::Error::NoKernel): the module has no kernel of that name.
    /// - [`Error::Invalid`](crate::Error::Invalid): on OpenCL, the name contains a zero byte.
    /// - [`Error::Device`](crate::Error::Device): the module does not compile or load.
    /// - [`Error::Device`](crate::Error::Device): on CUDA, the module is not built in.
    fn load_kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle>;
    /// Returns whether the driver compiles a kernel again at its first launch with a new launch shape, as PoCL does.
    fn jits_per_launch_shape(&self) -> bool {
        false
    }
    /// Queues a launch of `kernel` with arguments `args` on `stream`.
    ///
    /// # Safety
    /// See the trait; arguments match the kernel's parameters.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver's call failed.
    /// - [`Error::Device`](crate::Error::Device): on OpenCL, the kernel takes another number of arguments.
    /// - [`Error::Device`](crate::Error::Device): on OpenCL, the kernel takes no work-group of this size.
    unsafe fn launch(
        &self,
        stream: StreamHandle,
        kernel: KernelHandle,
        shape: LaunchConfig,
        args: &[Arg],
    ) -> Result<()>;
}
