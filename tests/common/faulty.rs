//! A driver that goes wrong on purpose, where a test says so.

#![allow(dead_code, unused_imports, reason = "each test file is a crate of its own and uses what it needs")]

#[path = "fault_plan.rs"]
mod fault_plan;

use std::sync::{Arc, Mutex, PoisonError};

pub use fault_plan::{Call, Counts, FAULTS, Fault, Faults, Live, Planned};

use proofwarp::backend::{
    Arg, DeviceInfo, Driver, EventHandle, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle,
};
use proofwarp::{Error, Result};

/// What every injected error says.
pub const INJECTED: &str = "injected by a test";

/// A driver around another, which passes on all but what a fault strikes. What fails waits for what was queued before, so that
/// memory that is given up after an error is no longer in use.
#[derive(Debug)]
pub struct Faulty {
    inner: Arc<dyn Driver>,
    faults: Faults,
    /// A page through which bits are changed, made at first use.
    page: Mutex<Option<PinnedAlloc>>,
}

impl Faulty {
    pub fn new(inner: Arc<dyn Driver>) -> (Self, Faults) {
        let faults = Faults::default();
        (Self { inner, faults: faults.clone(), page: Mutex::default() }, faults)
    }

    fn error(&self, call: &str) -> Error {
        Error::device(&self.info().name, call, INJECTED)
    }

    /// Counts a call, which may have to fail; a silent fault that strikes it.
    fn check(&self, call: Call, name: &str) -> Result<Option<Planned>> {
        let struck = self.faults.strike(call);
        match struck {
            _ if self.faults.is_lost() => Err(self.error(name)),
            Some(planned) if planned.fault.is_silent() || planned.fault == Fault::Memory => Ok(struck),
            Some(_) => Err(self.error(name)),
            None => Ok(None),
        }
    }

    /// As [`Self::check`], for a call that waits: where it fails, what was queued has run all the same.
    ///
    /// # Safety
    /// As that of `wait`.
    unsafe fn check_wait(&self, call: Call, name: &str, wait: impl FnOnce() -> Result<()>) -> Result<()> {
        match self.check(call, name) {
            Ok(_) => wait(),
            Err(error) => {
                let _ = wait();
                Err(error)
            }
        }
    }

    /// Changes a bit of so many bytes of the device's memory, behind what is queued.
    ///
    /// # Safety
    /// As that of a copy.
    unsafe fn flip(&self, stream: StreamHandle, at: (MemoryHandle, usize), bytes: usize, random: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        let page = match &mut *page {
            Some(page) => *page,
            none => *none.insert(self.inner.pinned_allocate(4096)?),
        };
        let offset = at.1 + (random >> 3) as usize % bytes;
        // SAFETY: passed on from the caller; the page is ours, and waited for.
        unsafe {
            self.inner.copy_d2h(stream, page.pointer, at.0, offset, 1)?;
            self.inner.stream_synchronize(stream)?;
            *page.pointer ^= 1 << (random % 8);
            self.inner.copy_h2d(stream, at.0, offset, page.pointer, 1)?;
            self.inner.stream_synchronize(stream)
        }
    }

    /// Changes a bit of one of a launch's buffers.
    ///
    /// # Safety
    /// As that of the launch.
    unsafe fn flip_argument(&self, stream: StreamHandle, args: &[Arg], random: u64) -> Result<()> {
        let known: Vec<_> = {
            let state = self.faults.state();
            let memory = |arg: &Arg| if let Arg::Memory(memory) = arg { Some(*memory) } else { None };
            let sized = args.iter().filter_map(memory).filter_map(|memory| Some((memory, state.bytes_of(memory)?)));
            sized.collect()
        };
        let Some((memory, bytes)) = known.get((random >> 40) as usize % known.len().max(1)) else { return Ok(()) };
        // What small cases use is at the start of a block.
        let used = (*bytes).min(64 << ((random >> 56) % 7));
        // SAFETY: passed on from the caller; the memory has so many bytes.
        unsafe { self.flip(stream, (*memory, 0), used, random) }
    }

    fn within_bound(&self, bytes: usize) -> Result<()> {
        let state = self.faults.state();
        match state.bound {
            Some(bound) if state.live.bytes + bytes as u64 > bound => {
                let available = bound.saturating_sub(state.live.bytes);
                Err(Error::OutOfMemory { device: self.info().name.clone(), requested: bytes as u64, available })
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        let page = self.page.lock().unwrap_or_else(PoisonError::into_inner).take();
        // SAFETY: whoever changed a bit has waited.
        page.into_iter().for_each(|page| unsafe { self.inner.pinned_free(page) });
    }
}

// SAFETY: all is the inner driver's but for what a fault changes: a bit within a range that the call names, before it returns,
// or that nothing is done at all. Whoever is told that a wait failed has waited.
unsafe impl Driver for Faulty {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn free_memory(&self) -> Result<u64> {
        if self.faults.is_lost() {
            return Err(self.error("free memory"));
        }
        let free = self.inner.free_memory()?;
        let state = self.faults.state();
        Ok(state.bound.map_or(free, |bound| free.min(bound.saturating_sub(state.live.bytes))))
    }

    fn memory_allocate(&self, bytes: usize) -> Result<MemoryHandle> {
        self.check(Call::Allocation, "an allocation")?;
        self.within_bound(bytes)?;
        let memory = self.inner.memory_allocate(bytes)?;
        let mut state = self.faults.state();
        state.blocks.insert(memory, bytes);
        state.live.memories += 1;
        state.live.bytes += bytes as u64;
        Ok(memory)
    }

    unsafe fn memory_free(&self, memory: MemoryHandle) {
        {
            let mut state = self.faults.state();
            let bytes = state.blocks.remove(&memory).unwrap_or(0);
            state.parts.retain(|_, (block, _)| *block != memory);
            state.live.memories -= 1;
            state.live.bytes -= bytes as u64;
        }
        // SAFETY: passed on from the caller.
        unsafe { self.inner.memory_free(memory) };
    }

    fn supports_suballocation(&self) -> bool {
        self.inner.supports_suballocation()
    }

    unsafe fn sub_buffer(&self, memory: MemoryHandle, offset: usize, bytes: usize) -> Result<MemoryHandle> {
        self.check(Call::Allocation, "a part of an allocation")?;
        // SAFETY: passed on from the caller.
        let part = unsafe { self.inner.sub_buffer(memory, offset, bytes)? };
        self.faults.state().parts.insert(part, (memory, bytes));
        Ok(part)
    }

    fn alloc_peer_memory(&self, ordinals: &[usize], part_bytes: usize) -> Result<MemoryHandle> {
        self.check(Call::Allocation, "an allocation of peers")?;
        self.inner.alloc_peer_memory(ordinals, part_bytes)
    }

    fn has_p2p_link(&self, ordinal: usize) -> bool {
        self.inner.has_p2p_link(ordinal)
    }

    fn enable_peer_access(&self, ordinal: usize) -> Result<()> {
        self.inner.enable_peer_access(ordinal)
    }

    unsafe fn free_peer_memory(&self, memory: MemoryHandle, parts: usize, part_bytes: usize) {
        // SAFETY: passed on from the caller.
        unsafe { self.inner.free_peer_memory(memory, parts, part_bytes) };
    }

    fn pinned_allocate(&self, bytes: usize) -> Result<PinnedAlloc> {
        self.check(Call::Allocation, "an allocation of page-locked memory")?;
        let pinned = self.inner.pinned_allocate(bytes)?;
        self.faults.state().live.pinned += 1;
        Ok(pinned)
    }

    unsafe fn pinned_free(&self, pinned: PinnedAlloc) {
        self.faults.state().live.pinned -= 1;
        // SAFETY: passed on from the caller.
        unsafe { self.inner.pinned_free(pinned) };
    }

    fn stream_create(&self) -> Result<StreamHandle> {
        self.check(Call::Allocation, "a new stream")?;
        let stream = self.inner.stream_create()?;
        self.faults.state().live.streams += 1;
        Ok(stream)
    }

    unsafe fn stream_free(&self, stream: StreamHandle) {
        self.faults.state().live.streams -= 1;
        // SAFETY: passed on from the caller.
        unsafe { self.inner.stream_free(stream) };
    }

    unsafe fn stream_synchronize(&self, stream: StreamHandle) -> Result<()> {
        // SAFETY: passed on from the caller.
        unsafe { self.check_wait(Call::Event, "a wait for a stream", || self.inner.stream_synchronize(stream)) }
    }

    unsafe fn event_record(&self, stream: StreamHandle) -> Result<EventHandle> {
        self.check(Call::Event, "a mark")?;
        // SAFETY: passed on from the caller.
        let event = unsafe { self.inner.event_record(stream)? };
        self.faults.state().live.events += 1;
        Ok(event)
    }

    unsafe fn event_free(&self, event: EventHandle) {
        self.faults.state().live.events -= 1;
        // SAFETY: passed on from the caller.
        unsafe { self.inner.event_free(event) };
    }

    unsafe fn event_query(&self, event: EventHandle) -> Result<bool> {
        if let Err(error) = self.check(Call::Look, "a look at a mark") {
            // SAFETY: passed on from the caller.
            let _ = unsafe { self.inner.event_synchronize(event) };
            return Err(error);
        }
        // SAFETY: passed on from the caller.
        unsafe { self.inner.event_query(event) }
    }

    unsafe fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        // SAFETY: passed on from the caller.
        unsafe { self.check_wait(Call::Event, "a wait for a mark", || self.inner.event_synchronize(event)) }
    }

    unsafe fn event_elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f64> {
        self.check(Call::Event, "the time between marks")?;
        // SAFETY: passed on from the caller.
        unsafe { self.inner.event_elapsed(start, end) }
    }

    unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Result<()> {
        self.check(Call::Event, "a stream's wait for a mark")?;
        // SAFETY: passed on from the caller.
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
        let struck = self.check(Call::CopyIn, "a copy to the device")?;
        // SAFETY: passed on from the caller; the range is the copy's.
        unsafe {
            self.inner.copy_h2d(stream, to, offset, from, bytes)?;
            struck.map_or(Ok(()), |planned| self.flip(stream, (to, offset), bytes, planned.random))
        }
    }

    unsafe fn copy_d2h(
        &self,
        stream: StreamHandle,
        to: *mut u8,
        from: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        let struck = self.check(Call::CopyOut, "a copy to the host")?;
        // SAFETY: passed on from the caller; the byte is within the range, which the copy has written.
        unsafe {
            self.inner.copy_d2h(stream, to, from, offset, bytes)?;
            if let Some(Planned { random, .. }) = struck.filter(|_| bytes > 0) {
                self.inner.stream_synchronize(stream)?;
                *to.add((random >> 3) as usize % bytes) ^= 1 << (random % 8);
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
        let struck = self.check(Call::CopyBetween, "a copy within the device")?;
        // SAFETY: passed on from the caller; the range is the copy's.
        unsafe {
            self.inner.copy_d2d(stream, to, from, bytes)?;
            struck.map_or(Ok(()), |planned| self.flip(stream, to, bytes, planned.random))
        }
    }

    unsafe fn zero_memory(
        &self,
        stream: StreamHandle,
        memory: MemoryHandle,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        self.check(Call::Zero, "zeros")?;
        // SAFETY: passed on from the caller.
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
        self.faults.trace_launch();
        let struck = self.check(Call::Launch, "a launch")?;
        // SAFETY: passed on from the caller.
        unsafe {
            self.inner.launch(stream, kernel, shape, args)?;
            struck.map_or(Ok(()), |planned| self.flip_argument(stream, args, planned.random))
        }
    }
}
