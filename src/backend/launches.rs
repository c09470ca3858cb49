//! Launches of kernels on a stream.

use std::sync::Arc;
use std::time::Instant;

use super::{Arg, KernelHandle, KernelSource, LaunchShape, Stream, lock};
use crate::Result;

/// One launch: which kernel, how many work-groups of which size.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The program.
    pub source: KernelSource<'a>,
    /// The kernel in it.
    pub kernel: &'a str,
    /// Work-groups.
    pub groups: u32,
    /// Work-items of a group.
    pub group_size: u32,
}

impl Stream {
    /// Queues a kernel. Nothing is launched for zero groups.
    ///
    /// # Safety
    /// Arguments match the kernel's parameters in number, kind and order, and the kernel stays inside
    /// the buffers for these arguments.
    ///
    /// # Errors
    /// The module does not compile or has no such kernel, or the driver failed.
    pub unsafe fn launch(&mut self, launch: Launch<'_>, args: &[Arg]) -> Result<()> {
        if launch.groups == 0 {
            return Ok(());
        }
        self.device.burn_fuse(launch.kernel)?;
        let kernel = self.kernel(launch)?;
        self.traffic.launches = self.traffic.launches.saturating_add(1);
        let Launch { groups, group_size, .. } = launch;
        let shape = LaunchShape { groups, group_size, beside: self.beside };
        let device = self.device.clone();
        let driver = &device.shared.driver;
        // SAFETY: handles are live; the rest is the caller's promise.
        let queue = |stream: &Self| unsafe { driver.launch(stream.core.handle, kernel, shape, args) };
        if !driver.specialises() || device.specialised.has(kernel, shape) {
            return queue(self);
        }
        self.between_spans(|stream| {
            device.specialised.first(kernel, shape, || {
                // What was queued before takes time of its own.
                stream.core.synchronize();
                let start = Instant::now();
                let queued = queue(stream);
                stream.core.synchronize();
                stream.traffic.time_compilation(start);
                queued
            })
        })
    }

    /// The kernel, made ready if this is its first use.
    fn kernel(&mut self, Launch { source, kernel, .. }: Launch<'_>) -> Result<KernelHandle> {
        if let Some(ready) = self.device.ready_kernel(source, kernel) {
            return Ok(ready);
        }
        self.between_spans(|stream| {
            let start = Instant::now();
            let made = stream.device.kernel(source, kernel);
            stream.traffic.time_compilation(start);
            made
        })
    }

    /// Does what counts as no kernels' time: an open span does not go on meanwhile.
    fn between_spans<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let open = self.started.is_some();
        self.mark_end()?;
        let made = work(self);
        if open {
            self.mark_start()?;
        }
        made
    }

    /// Like [`Self::launch`], for a kernel whose groups wait for each other: after the device's last such kernel,
    /// since groups of two would keep each other from starting.
    ///
    /// # Safety
    /// As [`Self::launch`].
    ///
    /// # Errors
    /// As [`Self::launch`].
    pub unsafe fn launch_in_turn(&mut self, launch: Launch<'_>, args: &[Arg]) -> Result<()> {
        let device = self.device.clone();
        let mut turn = lock(&device.turn);
        // The stream's own are in order anyway.
        if let Some(last) = turn.take().filter(|last| !Arc::ptr_eq(&last.core, &self.core)) {
            self.wait_for(&last)?;
        }
        // SAFETY: passed on from the caller.
        let launched = unsafe { self.launch(launch, args) };
        // After a failure too: the last such kernel may still run.
        *turn = Some(self.mark()?);
        launched
    }
}
