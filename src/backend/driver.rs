//! The raw contract that a backend implements.

use std::fmt;

use super::DeviceInfo;
use crate::Result;

/// A device allocation: a `CUdeviceptr` or a `cl_mem`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemoryHandle(pub usize);
/// An in-order queue: a `CUstream` or a `cl_command_queue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamHandle(pub usize);
/// A compiled kernel: a `CUfunction` or an index of the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelHandle(pub usize);
/// A point on a stream: a `CUevent` or a `cl_event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHandle(pub usize);

/// Page-locked host memory that the device can copy to and from asynchronously.
#[derive(Debug, Clone, Copy)]
pub struct Pinned {
    /// Start of the memory on the host.
    pub pointer: *mut u8,
    /// Its size.
    pub bytes: usize,
    /// What the backend needs to free it.
    pub handle: usize,
}

// SAFETY: a `Pinned` is a plain description of memory that any thread may use; whoever holds it
// (`staging::Ring`) hands it to one thread at a time.
unsafe impl Send for Pinned {}
// SAFETY: as above; the description itself is never mutated.
unsafe impl Sync for Pinned {}

/// A kernel argument.
#[derive(Debug, Clone, Copy)]
pub enum Arg {
    /// Device memory.
    Memory(MemoryHandle),
    /// A 32-bit number.
    U32(u32),
    /// A 64-bit number.
    U64(u64),
    /// What lies in host memory, of so many bytes; CUDA knows by itself how many the parameter has. It is read when the
    /// kernel is queued.
    Value(*const u8, usize),
    /// So many bytes of memory local to each work-group. On CUDA these are what the kernel declares as
    /// `extern __shared__`, and a pointer that it does not read is its argument.
    Local(u32),
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy)]
pub struct LaunchShape {
    /// Work-groups.
    pub groups: u32,
    /// Work-items of a group.
    pub group_size: u32,
    /// Kernels of other streams are to run at the same time.
    pub beside: bool,
}

/// What the kernels of a module are made from.
#[derive(Clone, Copy)]
pub enum Code<'a> {
    /// Makes the OpenCL text, only when the module is not compiled yet. CUDA has what the build compiled under the
    /// module's name.
    Text(&'a dyn Fn() -> String),
    /// What the driver loads as it is: a fatbin, cubin or PTX, or a program's binary of OpenCL.
    Binary(&'a [u8]),
}

/// A program by name, and what it is made from.
#[derive(Clone, Copy)]
pub struct KernelSource<'a> {
    /// Unique name of the module.
    pub module: &'a str,
    /// Where its kernels come from.
    pub code: Code<'a>,
}

impl fmt::Debug for KernelSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelSource").field("module", &self.module).finish_non_exhaustive()
    }
}

/// One device, as raw handles. All methods may be called from any thread at any time.
///
/// # Safety
/// An implementation must keep each handle valid until the matching `*_free`, run the commands of one
/// stream in order, and write to host memory only what a copy names. After a failed `stream_synchronize` or
/// `event_synchronize` no command of the stream runs any more. Callers of the unsafe methods
/// pass live handles of this driver and ranges inside their allocations, and keep host memory of an
/// asynchronous copy alive and otherwise untouched until the stream has passed it.
pub unsafe trait Driver: Send + Sync + fmt::Debug {
    /// What the device is.
    fn info(&self) -> &DeviceInfo;
    /// Bytes that an allocation could have now, as far as the driver tells.
    ///
    /// # Errors
    /// The driver's call failed.
    fn free_memory(&self) -> Result<u64>;
    /// Allocates device memory; contents are undefined. `Error::OutOfMemory` when there is too little.
    ///
    /// # Errors
    /// Out of memory, or the driver's call failed.
    fn memory_allocate(&self, bytes: usize) -> Result<MemoryHandle>;
    /// Frees device memory that no queued command uses any more.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn memory_free(&self, memory: MemoryHandle);
    /// Whether blocks may be used in parts.
    fn has_parts(&self) -> bool {
        true
    }
    /// Returns a part of a block as memory of its own, as long as there is the block; `offset` is a multiple of 4096 bytes.
    ///
    /// # Safety
    /// See the trait. Parts in use do not overlap, nor is the block itself used meanwhile.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn memory_part(&self, memory: MemoryHandle, offset: usize, bytes: usize) -> Result<MemoryHandle>;
    /// Allocates memory of several of the backend's devices at consecutive addresses: so many bytes on each of those with
    /// these numbers, one after the other. Without peer access all of it may only be on one device, this one.
    ///
    /// # Errors
    /// The devices do not reach each other's memory, one is out of it, or the driver's call failed.
    fn peers_allocate(&self, ordinals: &[usize], part_bytes: usize) -> Result<MemoryHandle> {
        let info = self.info();
        if ordinals.iter().all(|ordinal| *ordinal == info.ordinal) {
            return self.memory_allocate(ordinals.len() * part_bytes);
        }
        let reason = "its devices do not reach each other's memory".to_owned();
        Err(crate::Error::Unavailable { backend: info.backend, reason })
    }
    /// Whether copies from another of the backend's devices come straight from its memory.
    fn is_linked_to(&self, _ordinal: usize) -> bool {
        false
    }
    /// Lets copies come straight from the memory of another of the backend's devices, where the two are linked.
    ///
    /// # Errors
    /// The driver's call failed.
    fn open_peer(&self, _ordinal: usize) -> Result<()> {
        Ok(())
    }
    /// Frees such memory, of so many parts, that no queued command of any device uses any more.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn peers_free(&self, memory: MemoryHandle, _parts: usize, _part_bytes: usize) {
        // SAFETY: passed on from the caller.
        unsafe { self.memory_free(memory) };
    }
    /// Allocates page-locked host memory.
    ///
    /// # Errors
    /// Out of memory, or the driver's call failed.
    fn pinned_allocate(&self, bytes: usize) -> Result<Pinned>;
    /// Whether kernels may write to such memory, at the address that it has on the host, and the host may see it before they
    /// have ended.
    fn reaches_host(&self) -> bool {
        false
    }
    /// Frees page-locked host memory.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn pinned_free(&self, pinned: Pinned);
    /// Creates an in-order queue that runs concurrently with others.
    ///
    /// # Errors
    /// The driver's call failed.
    fn stream_create(&self) -> Result<StreamHandle>;
    /// Destroys a queue that has run empty.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn stream_free(&self, stream: StreamHandle);
    /// Waits until the queue has run empty.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call, or a command queued before, failed.
    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Result<()>;
    /// Marks the point that the queue has been filled to.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn event_record(&self, stream: StreamHandle) -> Result<EventHandle>;
    /// Frees a mark.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn event_free(&self, event: EventHandle);
    /// Whether the queue has passed the mark.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call, or a command queued before, failed.
    unsafe fn event_passed(&self, event: EventHandle) -> Result<bool>;
    /// Waits on the host until the queue has passed the mark.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call, or a command queued before, failed.
    unsafe fn event_synchronize(&self, event: EventHandle) -> Result<()>;
    /// Seconds between two marks that have both been passed.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f64>;
    /// Makes the queue wait for a mark on another.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn stream_wait(&self, stream: StreamHandle, event: EventHandle) -> Result<()>;
    /// Queues a copy from page-locked host memory to the device.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn copy_in(
        &self,
        stream: StreamHandle,
        to: MemoryHandle,
        offset: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;
    /// Queues a copy from the device to page-locked host memory.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn copy_out(
        &self,
        stream: StreamHandle,
        to: *mut u8,
        from: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()>;
    /// Queues a copy within the device.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn copy(
        &self,
        stream: StreamHandle,
        to: (MemoryHandle, usize),
        from: (MemoryHandle, usize),
        bytes: usize,
    ) -> Result<()>;
    /// Queues setting bytes to zero; offset and length are multiples of 4.
    ///
    /// # Safety
    /// See the trait.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn zero(&self, stream: StreamHandle, memory: MemoryHandle, offset: usize, bytes: usize) -> Result<()>;
    /// Finds a kernel, compiling or loading its module first if need be.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel) where the module has no such kernel, else it does not compile or
    /// load, or is not built in.
    fn kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle>;
    /// Whether a kernel's first launch in a shape compiles it for that.
    fn specialises(&self) -> bool {
        false
    }
    /// Queues a launch.
    ///
    /// # Safety
    /// See the trait; arguments match the kernel's parameters.
    ///
    /// # Errors
    /// The driver's call failed.
    unsafe fn launch(&self, stream: StreamHandle, kernel: KernelHandle, shape: LaunchShape, args: &[Arg])
    -> Result<()>;
}
