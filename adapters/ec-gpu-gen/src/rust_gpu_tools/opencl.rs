//! Provides devices that OpenCL reaches, and runs the calling crate's own kernels on them.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::sync::LazyLock;

use proofwarp::BackendKind;
use proofwarp::backend::Arg;

use super::error::GPUResult;
use super::user_kernels::{self, LaunchShape, LocalBuffer, Source};

/// Marks generic types, such as devices and buffers, as those of OpenCL. It has no values.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OpenCl {}

/// A device that is used through OpenCL.
pub type Device = user_kernels::Device<OpenCl>;
/// A device with kernels that are compiled from OpenCL C or loaded from a binary that the driver made.
pub type Program = user_kernels::Program<OpenCl>;
/// Holds elements of type `T`, taken to be plain memory, in device memory.
pub type Buffer<T> = user_kernels::Buffer<T, OpenCl>;
/// Refers to a device by OpenCL's own handle.
#[allow(non_camel_case_types)] // The name is part of the interface.
pub type cl_device_id = *mut std::ffi::c_void;

pub(super) static DEVICES: LazyLock<Vec<Device>> = LazyLock::new(|| Device::list_devices(BackendKind::OpenCl));

impl Device {
    /// Returns the compute capability of an NVIDIA device as (major, minor), or `None` if the driver reports none.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        self.handle.info().compute_capability
    }

    /// Returns OpenCL's own handle of the device.
    pub fn cl_device_id(&self) -> cl_device_id {
        self.handle.info().native as cl_device_id
    }
}

impl Program {
    /// Creates a program for `device` from a copy of `src`, which is OpenCL C source text.
    ///
    /// # Errors
    /// None: the text is compiled when the first kernel is created.
    #[allow(clippy::unnecessary_wraps, reason = "the stock crate's interface")]
    pub fn from_opencl(device: &Device, src: &str) -> GPUResult<Self> {
        Ok(Self::new(device, Source::Text(Cow::Owned(src.to_owned()))))
    }

    /// Creates a program from `bin`, a binary that the driver made before by compiling OpenCL C for the same `device`.
    ///
    /// # Errors
    /// None: the binary is loaded when the first kernel is created.
    #[allow(clippy::unnecessary_wraps, reason = "the stock crate's interface")]
    pub fn from_binary(device: &Device, bin: Vec<u8>) -> GPUResult<Self> {
        Ok(Self::new(device, Source::Binary(Cow::Owned(bin))))
    }

    /// Creates a program for `device` from `src`, which is OpenCL C source text and is not copied.
    pub(super) fn from_static(device: &Device, src: &'static str) -> Self {
        Self::new(device, Source::Text(Cow::Borrowed(src)))
    }

    /// Creates a launch of the kernel `name` by `global_work_size` groups (not work-items) of `local_work_size`
    /// work-items each. Its arguments are appended later.
    ///
    /// # Errors
    /// - `GPUError::KernelNotFound`: there is no such kernel.
    /// - `GPUError::Generic`: the program does not compile or load.
    pub fn create_kernel(&self, name: &str, global_work_size: usize, local_work_size: usize) -> GPUResult<Kernel<'_>> {
        let shape = self.prepare_launch(name, global_work_size, local_work_size)?;
        Ok(Kernel { builder: ExecuteKernel { program: self, shape, arguments: Vec::new() } })
    }
}

/// Converts a value to an argument of a kernel.
pub trait KernelArgument {
    /// Appends this value to the arguments of `kernel`.
    fn push(&self, kernel: &mut Kernel<'_>);
}

impl<T> KernelArgument for Buffer<T> {
    fn push(&self, kernel: &mut Kernel<'_>) {
        kernel.builder.append(&self.address);
    }
}

impl KernelArgument for i32 {
    fn push(&self, kernel: &mut Kernel<'_>) {
        kernel.builder.append(self);
    }
}

impl KernelArgument for u32 {
    fn push(&self, kernel: &mut Kernel<'_>) {
        kernel.builder.append(self);
    }
}

impl<T> KernelArgument for LocalBuffer<T> {
    fn push(&self, kernel: &mut Kernel<'_>) {
        kernel.builder.arguments.push(Argument::Local(self.bytes()));
    }
}

#[derive(Debug)]
enum Argument {
    /// A copy of a value.
    Value(Box<[MaybeUninit<u8>]>),
    /// Local memory, in bytes.
    Local(u32),
}

/// Builds a launch of a kernel. The type has the name that the crate `opencl3` gives it.
#[derive(Debug)]
pub struct ExecuteKernel<'a> {
    program: &'a Program,
    shape: LaunchShape,
    arguments: Vec<Argument>,
}

impl ExecuteKernel<'_> {
    /// Appends a copy of the bytes of `arg` as the kernel's next argument.
    ///
    /// # Safety
    /// `arg` must be a value of the type of the kernel's parameter, in the device's layout.
    pub unsafe fn set_arg<T>(&mut self, arg: &T) -> &mut Self {
        self.append(arg)
    }

    /// Appends local memory of `size` bytes as the kernel's next argument.
    ///
    /// # Safety
    /// The kernel's parameter must be a pointer to local memory.
    pub unsafe fn set_arg_local_buffer(&mut self, size: usize) -> &mut Self {
        self.arguments.push(Argument::Local(LocalBuffer::<u8>::new(size).bytes()));
        self
    }

    /// Sets the total number of work-items to `size`, rounded down to whole groups. The group size must be set before.
    pub fn set_global_work_size(&mut self, size: usize) -> &mut Self {
        self.shape.groups = size / self.shape.group_size.max(1);
        self
    }

    /// Sets the number of work-items per group to `size`, and keeps the total number of work-items.
    pub fn set_local_work_size(&mut self, size: usize) -> &mut Self {
        let all = self.shape.groups * self.shape.group_size;
        self.shape.group_size = size;
        self.set_global_work_size(all)
    }

    fn append<T>(&mut self, value: &T) -> &mut Self {
        // SAFETY: any byte of a value may be read as one that may be uninitialised.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) };
        self.arguments.push(Argument::Value(bytes.into()));
        self
    }
}

/// Holds a launch of a kernel with the arguments appended so far, which it borrows.
#[derive(Debug)]
pub struct Kernel<'a> {
    /// The builder, to which callers can append arguments of other types.
    pub builder: ExecuteKernel<'a>,
}

impl<'a> Kernel<'a> {
    /// Appends the argument `t` to the kernel's arguments.
    #[must_use]
    pub fn arg<T: KernelArgument>(mut self, t: &'a T) -> Self {
        t.push(&mut self);
        self
    }

    /// Launches the kernel and waits until it has ended. The arguments must match the kernel's parameters, and the
    /// kernel must stay within its buffers.
    ///
    /// # Errors
    /// - `GPUError::Generic`: there is more than one [`LocalBuffer`].
    /// - `GPUError::Generic`: the groups, or their work-items, are 2^32 or more.
    /// - `GPUError::Generic`: the number of arguments is not the kernel's.
    /// - `GPUError::Generic`: the driver or the kernel failed.
    pub fn run(self) -> GPUResult<()> {
        let ExecuteKernel { program, shape, arguments } = self.builder;
        let arguments: Vec<Arg> = arguments.iter().map(to_launch_arg).collect();
        user_kernels::check_local_buffers(arguments.iter().filter(|arg| matches!(arg, Arg::Local(_))).count())?;
        program.launch(&shape, &arguments)
    }
}

fn to_launch_arg(argument: &Argument) -> Arg {
    match argument {
        Argument::Value(bytes) => Arg::Value(bytes.as_ptr().cast(), bytes.len()),
        Argument::Local(bytes) => Arg::Local(*bytes),
    }
}
