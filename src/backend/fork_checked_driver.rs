//! Restricts a driver to the process that opened it: in a forked child each call fails before it reaches the vendor's
//! library.

use super::{
    Arg, DeviceInfo, Driver, EventHandle, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle,
};
use crate::Result;
use crate::fork_check::check;

/// Wraps a driver so that only the process that opened it can use it. In a forked child, calls return errors and free
/// nothing, because the parent owns all objects.
#[derive(Debug)]
pub(super) struct ForkGuard(pub Box<dyn Driver>);

impl ForkGuard {
    /// Calls `free` to free an object, except in a forked child, where the parent owns the object.
    fn free_unless_forked(&self, free: impl FnOnce(&dyn Driver)) {
        if check().is_ok() {
            free(&*self.0);
        }
    }
}

// SAFETY: calls are passed on unchanged, or are errors that leave everything as it was. The parent's handles stay valid
// for ever in the child, where nothing is freed.
unsafe impl Driver for ForkGuard {
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    fn free_memory(&self) -> Result<u64> {
        check()?;
        self.0.free_memory()
    }

    fn memory_allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        check()?;
        self.0.memory_allocate(bytes)
    }

    unsafe fn memory_free(&self, memory: MemoryHandle) {
        // SAFETY: passed on from the caller.
        self.free_unless_forked(|driver| unsafe { driver.memory_free(memory) });
    }

    fn supports_suballocation(&self) -> bool {
        self.0.supports_suballocation()
    }

    unsafe fn sub_buffer(&self, memory: MemoryHandle, offset: usize, bytes: usize) -> Result<MemoryHandle> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.sub_buffer(memory, offset, bytes) }
    }

    fn alloc_peer_memory(&self, ordinals: &[usize], part_bytes: usize) -> Result<MemoryHandle> {
        check()?;
        self.0.alloc_peer_memory(ordinals, part_bytes)
    }

    fn has_p2p_link(&self, ordinal: usize) -> bool {
        check().is_ok() && self.0.has_p2p_link(ordinal)
    }

    fn enable_peer_access(&self, ordinal: usize) -> Result<()> {
        check()?;
        self.0.enable_peer_access(ordinal)
    }

    unsafe fn free_peer_memory(&self, memory: MemoryHandle, parts: usize, part_bytes: usize) {
        // SAFETY: passed on from the caller.
        self.free_unless_forked(|driver| unsafe { driver.free_peer_memory(memory, parts, part_bytes) });
    }

    fn pinned_allocate(&self, bytes: usize) -> Result<PinnedAlloc> {
        check()?;
        self.0.pinned_allocate(bytes)
    }

    unsafe fn pinned_free(&self, pinned: PinnedAlloc) {
        // SAFETY: passed on from the caller.
        self.free_unless_forked(|driver| unsafe { driver.pinned_free(pinned) });
    }

    fn stream_create(&self) -> Result<StreamHandle> {
        check()?;
        self.0.stream_create()
    }

    unsafe fn stream_free(&self, stream: StreamHandle) {
        // SAFETY: passed on from the caller.
        self.free_unless_forked(|driver| unsafe { driver.stream_free(stream) });
    }

    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.stream_synchronize(stream) }
    }

    unsafe fn event_record(&self, stream: StreamHandle) -> Result<EventHandle> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.event_record(stream) }
    }

    unsafe fn event_free(&self, event: EventHandle) {
        // SAFETY: passed on from the caller.
        self.free_unless_forked(|driver| unsafe { driver.event_free(event) });
    }

    unsafe fn event_query(&self, event: EventHandle) -> Result<bool> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.event_query(event) }
    }

    unsafe fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.event_synchronize(event) }
    }

    unsafe fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f64> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.event_elapsed(start, end) }
    }

    unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.stream_wait_event(stream, event) }
    }

    unsafe fn copy_h2d(
        &self,
        stream: StreamHandle,
        to: MemoryHandle,
        offset: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.copy_h2d(stream, to, offset, from, bytes) }
    }

    unsafe fn copy_d2h(
        &self,
        stream: StreamHandle,
        to: *mut u8,
        from: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.copy_d2h(stream, to, from, offset, bytes) }
    }

    unsafe fn copy_d2d(
        &self,
        stream: StreamHandle,
        to: (MemoryHandle, usize),
        from: (MemoryHandle, usize),
        bytes: usize,
    ) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.copy_d2d(stream, to, from, bytes) }
    }

    unsafe fn zero_memory(
        &self,
        stream: StreamHandle,
        memory: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.zero_memory(stream, memory, offset, bytes) }
    }

    fn load_kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        check()?;
        self.0.load_kernel(source, name)
    }

    fn jits_per_launch_shape(&self) -> bool {
        self.0.jits_per_launch_shape()
    }

    unsafe fn launch(
        &self,
        stream: StreamHandle,
        kernel: KernelHandle,
        shape: LaunchConfig,
        args: &[Arg],
    ) -> Result<()> {
        check()?;
        // SAFETY: passed on from the caller.
        unsafe { self.0.launch(stream, kernel, shape, args) }
    }
}
