//! Provides devices that CUDA reaches, and runs the calling crate's own kernels on them.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::LazyLock;

use proofwarp::BackendKind;
use proofwarp::backend::Arg;

use super::error::GPUResult;
use super::user_kernels::{self, LaunchShape, LocalBuffer, Source};

/// Marks generic types, such as devices and buffers, as those of CUDA. It has no values.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cuda {}

/// A device that is used through CUDA.
pub type Device = user_kernels::Device<Cuda>;
/// A device with kernels that are loaded from a fatbin, cubin or PTX.
pub type Program = user_kernels::Program<Cuda>;
/// Holds elements of type `T`, taken to be plain memory, in device memory.
pub type Buffer<T> = user_kernels::Buffer<T, Cuda>;

pub(super) static DEVICES: LazyLock<Vec<Device>> = LazyLock::new(|| Device::list_devices(BackendKind::Cuda));

impl Device {
    /// Returns the compute capability as (major, minor), such as (9, 0).
    pub fn compute_capability(&self) -> (u32, u32) {
        self.handle.info().compute_capability.unwrap_or_default()
    }
}

impl Program {
    /// Creates a program for `device` from the file `filename`, which contains a fatbin, a cubin or PTX.
    ///
    /// # Errors
    /// - `GPUError::IO`: the file cannot be read, or its name is not UTF-8.
    /// - Errors in its contents appear when the first kernel is created, which loads them.
    pub fn from_binary(device: &Device, filename: &CStr) -> GPUResult<Self> {
        let name = filename.to_str().map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(Self::new(device, Source::Binary(Cow::Owned(std::fs::read(name)?))))
    }

    /// Creates a program for `device` from a copy of `bytes`, which are a fatbin, a cubin or PTX.
    ///
    /// # Errors
    /// None: the program is loaded when its first kernel is created.
    #[allow(clippy::unnecessary_wraps, reason = "the stock crate's interface")]
    pub fn from_bytes(device: &Device, bytes: &[u8]) -> GPUResult<Self> {
        Ok(Self::new(device, Source::Binary(Cow::Owned(bytes.to_vec()))))
    }

    /// Creates a program for `device` from `bytes`, which are not copied. They are a fatbin, a cubin or PTX.
    pub(super) fn from_static(device: &Device, bytes: &'static [u8]) -> Self {
        Self::new(device, Source::Binary(Cow::Borrowed(bytes)))
    }

    /// Creates a launch of the kernel `name` by `gws` thread blocks of `lws` threads each. Its arguments are appended
    /// later.
    ///
    /// # Errors
    /// - `GPUError::KernelNotFound`: there is no such kernel.
    /// - `GPUError::Generic`: the program does not load.
    pub fn create_kernel(&self, name: &str, gws: usize, lws: usize) -> GPUResult<Kernel<'_>> {
        Ok(Kernel { program: self, shape: self.prepare_launch(name, gws, lws)?, arguments: Vec::new() })
    }
}

/// Converts a value to an argument of a kernel.
pub trait KernelArgument {
    /// Returns a pointer to the value that the kernel receives.
    fn as_c_void(&self) -> *mut c_void;

    /// Returns the bytes of shared memory that the argument reserves per thread block; 0 for all types but
    /// [`LocalBuffer`].
    fn shared_mem(&self) -> u32 {
        0
    }
}

impl<T> KernelArgument for Buffer<T> {
    fn as_c_void(&self) -> *mut c_void {
        to_c_void(&self.address)
    }
}

impl KernelArgument for i32 {
    fn as_c_void(&self) -> *mut c_void {
        to_c_void(self)
    }
}

impl KernelArgument for u32 {
    fn as_c_void(&self) -> *mut c_void {
        to_c_void(self)
    }
}

impl<T> KernelArgument for LocalBuffer<T> {
    /// Returns a placeholder pointer, which the kernel does not read: it declares the shared memory itself.
    fn as_c_void(&self) -> *mut c_void {
        to_c_void(self)
    }

    fn shared_mem(&self) -> u32 {
        self.bytes()
    }
}

fn to_c_void<T>(value: &T) -> *mut c_void {
    std::ptr::from_ref(value).cast_mut().cast()
}

/// Holds a launch of a kernel with the arguments appended so far, which it borrows.
pub struct Kernel<'a> {
    program: &'a Program,
    shape: LaunchShape,
    arguments: Vec<&'a dyn KernelArgument>,
}

impl fmt::Debug for Kernel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<_> = self.arguments.iter().map(|arg| (arg.as_c_void(), arg.shared_mem())).collect();
        f.debug_struct("Kernel").field("shape", &self.shape).field("arguments", &arguments).finish_non_exhaustive()
    }
}

impl<'a> Kernel<'a> {
    /// Appends `argument` to the kernel's arguments.
    #[must_use]
    pub fn arg<T: KernelArgument>(mut self, argument: &'a T) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Launches the kernel and waits until it has ended. The arguments must match the kernel's parameters, and the
    /// kernel must stay within its buffers.
    ///
    /// # Errors
    /// - `GPUError::Generic`: there is more than one [`LocalBuffer`].
    /// - `GPUError::Generic`: the groups, or their threads, are 2^32 or more.
    /// - `GPUError::Generic`: the driver or the kernel failed.
    pub fn run(self) -> GPUResult<()> {
        let arguments: Vec<Arg> = self.arguments.iter().map(|argument| to_launch_arg(*argument)).collect();
        user_kernels::check_local_buffers(arguments.iter().filter(|arg| matches!(arg, Arg::Local(_))).count())?;
        self.program.launch(&self.shape, &arguments)
    }
}

fn to_launch_arg(argument: &dyn KernelArgument) -> Arg {
    match argument.shared_mem() {
        0 => Arg::Value(argument.as_c_void().cast_const().cast(), 0),
        bytes => Arg::Local(bytes),
    }
}
