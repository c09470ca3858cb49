//! A device that computes a wrong value now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proofwarp::backend::{
    Arg, Device, DeviceInfo, Driver, EventHandle, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle,
};
use proofwarp::{Accelerator, BackendKind, Result};

use crate::common::{accelerators_with_devices, fresh_driver};

/// Copies to the host until the one whose first bit is flipped; negative: none is.
pub type Flip = Arc<AtomicI64>;

/// A device of each backend whose copies to the host are flipped, on an accelerator that is forced and on one that may fall back.
pub fn faulty() -> Vec<(Accelerator, Accelerator, Flip)> {
    let of = |forced: &Accelerator| {
        let flip = Flip::new(AtomicI64::new(-1));
        let driver = Faulty { inner: fresh_driver(&forced.devices()[0]), flip: flip.clone() };
        let devices = vec![Device::new(Box::new(driver), None)];
        let free = Accelerator::automatic().expect("settings").with_devices(devices.clone());
        (forced.with_devices(devices), free, flip)
    };
    // Its copies are those that the tests count.
    let all = accelerators_with_devices();
    all.iter().filter(|accelerator| accelerator.forced() == Some(BackendKind::OpenCl)).map(of).collect()
}

#[derive(Debug)]
struct Faulty {
    inner: Box<dyn Driver>,
    flip: Flip,
}

// SAFETY: all is passed on; a bit of what a copy brought to the host is flipped once that copy is done.
unsafe impl Driver for Faulty {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn free_memory(&self) -> Result<u64> {
        self.inner.free_memory()
    }

    fn memory_allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        self.inner.memory_allocate(bytes)
    }

    unsafe fn memory_free(&self, memory: MemoryHandle) {
        // SAFETY: as the caller says.
        unsafe { self.inner.memory_free(memory) }
    }

    fn supports_suballocation(&self) -> bool {
        self.inner.supports_suballocation()
    }

    unsafe fn sub_buffer(&self, memory: MemoryHandle, offset: usize, bytes: usize) -> Result<MemoryHandle> {
        // SAFETY: passed on from the caller.
        unsafe { self.inner.sub_buffer(memory, offset, bytes) }
    }

    fn pinned_allocate(&self, bytes: usize) -> Result<PinnedAlloc> {
        self.inner.pinned_allocate(bytes)
    }

    unsafe fn pinned_free(&self, pinned: PinnedAlloc) {
        // SAFETY: as the caller says.
        unsafe { self.inner.pinned_free(pinned) }
    }

    fn stream_create(&self) -> Result<StreamHandle> {
        self.inner.stream_create()
    }

    unsafe fn stream_free(&self, stream: StreamHandle) {
        // SAFETY: as the caller says.
        unsafe { self.inner.stream_free(stream) }
    }

    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.inner.stream_synchronize(stream) }
    }

    unsafe fn event_record(&self, stream: StreamHandle) -> Result<EventHandle> {
        // SAFETY: as the caller says.
        unsafe { self.inner.event_record(stream) }
    }

    unsafe fn event_free(&self, event: EventHandle) {
        // SAFETY: as the caller says.
        unsafe { self.inner.event_free(event) }
    }

    unsafe fn event_query(&self, event: EventHandle) -> Result<bool> {
        // SAFETY: as the caller says.
        unsafe { self.inner.event_query(event) }
    }

    unsafe fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.inner.event_synchronize(event) }
    }

    unsafe fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f64> {
        // SAFETY: as the caller says.
        unsafe { self.inner.event_elapsed(start, end) }
    }

    unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.inner.stream_wait_event(stream, event) }
    }

    unsafe fn copy_h2d(
        &self,
        stream: StreamHandle,
        to: MemoryHandle,
        offset: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.inner.copy_h2d(stream, to, offset, from, bytes) }
    }

    unsafe fn copy_d2h(
        &self,
        stream: StreamHandle,
        to: *mut u8,
        from: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as the caller says; the copy is done when the bit is flipped, and there is a byte.
        unsafe {
            self.inner.copy_d2h(stream, to, from, offset, bytes)?;
            if bytes > 0 && self.flip.fetch_sub(1, Ordering::SeqCst) == 0 {
                self.inner.stream_synchronize(stream)?;
                *to ^= 1;
            }
        }
        Ok(())
    }

    unsafe fn copy_d2d(
        &self,
        stream: StreamHandle,
        to: (MemoryHandle, usize),
        from: (MemoryHandle, usize),
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.inner.copy_d2d(stream, to, from, bytes) }
    }

    unsafe fn zero_memory(
        &self,
        stream: StreamHandle,
        memory: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.inner.zero_memory(stream, memory, offset, bytes) }
    }

    fn load_kernel(&self, source: KernelSource<'_>, name: &str) -> Result<KernelHandle> {
        self.inner.load_kernel(source, name)
    }

    fn jits_per_launch_shape(&self) -> bool {
        self.inner.jits_per_launch_shape()
    }

    unsafe fn launch(
        &self,
        stream: StreamHandle,
        kernel: KernelHandle,
        shape: LaunchConfig,
        args: &[Arg],
    ) -> Result<()> {
        // SAFETY: as the caller says.
        unsafe { self.inner.launch(stream, kernel, shape, args) }
    }
}
