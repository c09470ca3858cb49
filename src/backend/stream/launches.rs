//! Launches of kernels on a stream.

use std::sync::Arc;
use std::time::Instant;

use crate::Result;
use crate::backend::{Arg, KernelHandle, KernelSource, LaunchConfig, Stream, lock};

/// Describes one launch: its kernel, and the number and size of its work-groups.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// Module that contains the kernel.
    pub source: KernelSource<'a>,
    /// Name of the kernel in the module.
    pub kernel: &'a str,
    /// Number of work-groups; zero launches nothing.
    pub groups: u32,
    /// Number of work-items in each work-group.
    pub group_size: u32,
}

impl Stream {
    /// Queues a launch of a kernel with arguments `args`. A launch of zero groups does nothing.
    ///
    /// # Safety
    /// Arguments match the kernel's parameters in number, kind and order, and the kernel stays inside
    /// the buffers for these arguments.
    ///
    /// # Errors
    /// - [`Error::NoKernel`](crate::Error::NoKernel): the module has no kernel of that name.
    /// - [`Error::Invalid`](crate::Error::Invalid): on OpenCL, the name contains a zero byte.
    /// - [`Error::Device`](crate::Error::Device): the module does not compile or load.
    /// - [`Error::Device`](crate::Error::Device): on CUDA, the module is not built in.
    /// - [`Error::Device`](crate::Error::Device): on OpenCL, the kernel takes another number of arguments.
    /// - [`Error::Device`](crate::Error::Device): on OpenCL, the kernel takes no work-group of this size.
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub unsafe fn launch(&mut self, launch: Launch<'_>, args: &[Arg]) -> Result<()> {
        if launch.groups == 0 {
            return Ok(());
        }
        self.device.check_injected_fault(launch.kernel)?;
        let kernel = self.get_or_load_kernel(launch)?;
        self.traffic.launches = self.traffic.launches.saturating_add(1);
        let Launch { groups, group_size, .. } = launch;
        let shape = LaunchConfig { groups, group_size, beside: self.beside };
        let device = &self.device;
        if device.shared.driver.jits_per_launch_shape() && !device.specialised.was_launched(kernel, shape) {
            // SAFETY: passed on from the caller.
            return unsafe { self.launch_first(kernel, shape, args) };
        }
        // SAFETY: handles are live; the rest is the caller's promise.
        unsafe { device.shared.driver.launch(self.core.handle, kernel, shape, args) }
    }

    /// Queues the first launch of `kernel` in `shape`, which may compile it, and counts the time as compilation.
    ///
    /// # Safety
    /// [`Self::launch`] lists what the caller promises.
    unsafe fn launch_first(&mut self, kernel: KernelHandle, shape: LaunchConfig, args: &[Arg]) -> Result<()> {
        let device = self.device.clone();
        self.run_untimed(|stream| {
            device.specialised.run_first_launch(kernel, shape, || {
                // Earlier work would count as compilation.
                stream.core.synchronize();
                let start = Instant::now();
                // SAFETY: handles are live; the rest is the caller's promise.
                let queued = unsafe { device.shared.driver.launch(stream.core.handle, kernel, shape, args) };
                stream.core.synchronize();
                stream.traffic.add_compile_time(start);
                queued
            })
        })
    }

    /// Returns the handle of the launch's kernel, compiling or loading it at its first use.
    fn get_or_load_kernel(&mut self, Launch { source, kernel, .. }: Launch<'_>) -> Result<KernelHandle> {
        if let Some(ready) = self.device.cached_kernel(source, kernel) {
            return Ok(ready);
        }
        self.run_untimed(|stream| {
            let start = Instant::now();
            let made = stream.device.kernel(source, kernel);
            stream.traffic.add_compile_time(start);
            made
        })
    }

    /// Runs `work` outside the open timing span, so that its time does not count as kernel time. Ends the span before
    /// and starts a new one after.
    fn run_untimed<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let open = self.started.is_some();
        self.end_timing()?;
        let made = work(self);
        if open {
            self.begin_timing()?;
        }
        made
    }

    /// Queues a launch of a cooperative kernel, whose work-groups wait for each other. Cooperative kernels of a
    /// device are serialised, because two at once can deadlock.
    ///
    /// # Safety
    /// Arguments match the kernel's parameters in number, kind and order, and the kernel stays inside the buffers for
    /// these arguments.
    ///
    /// # Errors
    /// - [`Error::NoKernel`](crate::Error::NoKernel): the module has no kernel of that name.
    /// - [`Error::Invalid`](crate::Error::Invalid): on OpenCL, the name contains a zero byte.
    /// - [`Error::Device`](crate::Error::Device): the module does not compile or load.
    /// - [`Error::Device`](crate::Error::Device): on CUDA, the module is not built in.
    /// - [`Error::Device`](crate::Error::Device): on OpenCL, the kernel takes another number of arguments.
    /// - [`Error::Device`](crate::Error::Device): on OpenCL, the kernel takes no work-group of this size.
    /// - [`Error::Device`](crate::Error::Device): the driver failed.
    pub unsafe fn launch_cooperative(&mut self, launch: Launch<'_>, args: &[Arg]) -> Result<()> {
        let device = self.device.clone();
        let mut turn = lock(&device.turn);
        // Kernels of the same stream run in order anyway.
        if let Some(last) = turn.take().filter(|last| !Arc::ptr_eq(&last.core, &self.core)) {
            self.wait_event(&last)?;
        }
        // SAFETY: passed on from the caller.
        let launched = unsafe { self.launch(launch, args) };
        // Records it after a failure too: the last cooperative kernel may still run.
        *turn = Some(self.record_event()?);
        launched
    }
}
