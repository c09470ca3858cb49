//! Implements programs of the calling crate's own kernels, in common for both frameworks.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, OnceLock, PoisonError};

use proofwarp::backend::{Arg, KernelCode, KernelSource, Launch, Stream, StreamStats};
use proofwarp::report::record_kernel;
use proofwarp::{Accelerator, BackendKind};
use sha2::{Digest, Sha256};

use super::accelerator::accelerator;
use super::env::forced_backend;
use super::error::GPUResult;
use super::handle::Handle;
use super::{DeviceUuid, GPUError, PciId, Vendor};

/// A device that is used through the framework `F`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Device<F> {
    pub(super) handle: Handle,
    framework: PhantomData<F>,
}

impl<F> Device<F> {
    /// Returns all devices of `backend`. The list is empty if `PROOFWARP_BACKEND` forces another backend, or if
    /// `backend` is not available.
    pub(super) fn list_devices(backend: BackendKind) -> Vec<Self> {
        if forced_backend().is_some_and(|forced| forced != backend) {
            return Vec::new();
        }
        let devices = match accelerator() {
            // `Device::all` has these devices too.
            Ok(chosen) if chosen.devices().first().is_some_and(|device| device.info().backend == backend) => {
                chosen.devices().to_vec()
            }
            _ => Accelerator::with_backend(backend).map(|other| other.devices().to_vec()).unwrap_or_default(),
        };
        devices.into_iter().map(|device| Self { handle: Handle(device), framework: PhantomData }).collect()
    }

    /// Returns the vendor.
    pub fn vendor(&self) -> Vendor {
        self.handle.vendor()
    }

    /// Returns the vendor's name for the device.
    pub fn name(&self) -> String {
        self.handle.info().name.clone()
    }

    /// Returns the total memory in bytes.
    pub fn memory(&self) -> u64 {
        self.handle.info().memory
    }

    /// Returns the number of multiprocessors (CUDA) or compute units (OpenCL).
    pub fn compute_units(&self) -> u32 {
        self.handle.info().compute_units
    }

    /// Returns the PCI address, or a made-up one if the device has none.
    pub fn pci_id(&self) -> PciId {
        self.handle.pci_id()
    }

    /// Returns the device's UUID, which is never `None`.
    #[allow(clippy::unnecessary_wraps, reason = "the stock crate's interface")]
    pub fn uuid(&self) -> Option<DeviceUuid> {
        Some(self.handle.uuid())
    }
}

/// Reserves local memory of a work-group (CUDA's shared memory) as an argument of a kernel. A kernel may have at most
/// one such argument.
#[derive(Debug)]
pub struct LocalBuffer<T> {
    length: usize,
    elements: PhantomData<T>,
}

impl<T> LocalBuffer<T> {
    /// Creates an argument that reserves memory for `length` elements of type `T`.
    pub fn new(length: usize) -> Self {
        Self { length, elements: PhantomData }
    }

    /// Returns the size in bytes. If the size exceeds 32 bits, returns `u32::MAX`, which is more than any device has.
    pub(super) fn bytes(&self) -> u32 {
        let bytes = self.length.checked_mul(size_of::<T>()).and_then(|bytes| u32::try_from(bytes).ok());
        bytes.unwrap_or(u32::MAX)
    }
}

/// Returns an error if a kernel has more than one local buffer. `count` is its number of local buffers.
pub(super) fn check_local_buffers(count: usize) -> GPUResult<()> {
    match count {
        0 | 1 => Ok(()),
        _ => Err(GPUError::Generic(format!("There cannot be more than one `LocalBuffer`, got {count}."))),
    }
}

/// Holds elements of type `T`, taken to be plain memory, in memory of a device of framework `F`.
#[derive(Debug)]
pub struct Buffer<T, F> {
    memory: proofwarp::backend::Buffer,
    /// Argument that kernels receive: CUDA's address, or OpenCL's object.
    pub(super) address: usize,
    elements: PhantomData<(T, F)>,
}

/// Holds the code of a program's kernels.
pub(super) enum Source {
    /// OpenCL C.
    #[cfg(feature = "opencl")]
    Text(Cow<'static, str>),
    /// Binary that the driver loads unchanged.
    Binary(Cow<'static, [u8]>),
}

impl Source {
    fn bytes(&self) -> &[u8] {
        match self {
            #[cfg(feature = "opencl")]
            Self::Text(text) => text.as_bytes(),
            Self::Binary(binary) => binary,
        }
    }

    /// Returns the name of the module, which contains the SHA-256 hash of its code. Modules of equal code are thus
    /// loaded once.
    fn module_name(&self) -> String {
        format!("appended_{:x}", Sha256::digest(self.bytes()))
    }
}

/// Describes a launch: the kernel's name, the number of groups, and the work-items per group.
#[derive(Debug)]
pub(super) struct LaunchShape {
    pub(super) name: String,
    pub(super) groups: usize,
    pub(super) group_size: usize,
}

/// Holds a device and the code of the calling crate's kernels. The code is compiled or loaded when the first kernel is
/// created, because provers that use only proofwarp's own kernels do not need it.
///
/// Every call returns after the device has finished its work, so programs of one device may share buffers.
pub struct Program<F> {
    device: Device<F>,
    source: Source,
    module: OnceLock<String>,
    stream: Mutex<Option<Stream>>,
}

impl<F> fmt::Debug for Program<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("device", &self.device.handle).finish_non_exhaustive()
    }
}

impl<F: Clone> Program<F> {
    pub(super) fn new(device: &Device<F>, source: Source) -> Self {
        Self { device: device.clone(), source, module: OnceLock::new(), stream: Mutex::default() }
    }

    pub(super) fn device(&self) -> &Device<F> {
        &self.device
    }

    /// Returns the device's name.
    pub fn device_name(&self) -> &str {
        &self.device.handle.info().name
    }

    /// Calls `function` with the program and `argument`, and returns its result.
    ///
    /// # Errors
    /// Returns the errors of `function`.
    pub fn run<C, R, E, A>(&self, function: C, argument: A) -> Result<R, E>
    where
        C: FnOnce(&Self, A) -> Result<R, E>,
        E: From<GPUError>,
    {
        function(self, argument)
    }

    /// Allocates a device buffer for `length` elements, with undefined contents.
    ///
    /// # Safety
    /// The contents must be written before they are read.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: elements of `T` own memory, such as a `Vec`.
    /// - [`GPUError::Generic`]: memory is exhausted.
    /// - [`GPUError::Generic`]: the driver failed.
    pub unsafe fn create_buffer<T>(&self, length: usize) -> GPUResult<Buffer<T, F>> {
        check_needs_no_drop::<T>()?;
        let too_large = || GPUError::Generic(format!("create_buffer: {length} elements are too many"));
        let bytes = length.checked_mul(size_of::<T>()).ok_or_else(too_large)?;
        let memory = self.with_stream(|stream| stream.allocate(bytes))?;
        Ok(Buffer { address: memory.handle().0, memory, elements: PhantomData })
    }

    /// Allocates a device buffer with a copy of `slice`.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: elements of `T` own memory, such as a `Vec`.
    /// - [`GPUError::Generic`]: memory is exhausted.
    /// - [`GPUError::Generic`]: the driver failed.
    pub fn create_buffer_from_slice<T>(&self, slice: &[T]) -> GPUResult<Buffer<T, F>> {
        // SAFETY: the next line writes all of it.
        let mut buffer = unsafe { self.create_buffer(slice.len())? };
        self.write_from_buffer(&mut buffer, slice)?;
        Ok(buffer)
    }

    /// Copies `data` to the start of `buffer`.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: `data` is longer than the buffer.
    /// - [`GPUError::Generic`]: the driver failed.
    pub fn write_from_buffer<T>(&self, buffer: &mut Buffer<T, F>, data: &[T]) -> GPUResult<()> {
        // SAFETY: elements are plain memory, as the buffer's type says, and the length is theirs.
        let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) };
        self.with_stream(|stream| stream.upload(&buffer.memory, bytes).and_then(|()| stream.synchronize(None)))
    }

    /// Fills `data` with the first elements of `buffer`, after all kernels launched before.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: `data` is longer than the buffer.
    /// - [`GPUError::Generic`]: the driver or a kernel failed.
    pub fn read_into_buffer<T>(&self, buffer: &Buffer<T, F>, data: &mut [T]) -> GPUResult<()> {
        // SAFETY: elements are plain memory, as the buffer's type says, and the length is theirs.
        let bytes = unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast(), size_of_val(data)) };
        self.with_stream(|stream| stream.download(bytes, &buffer.memory))
    }

    /// Compiles or loads the kernel `name`, and returns its launch with `groups` groups of `group_size` work-items.
    ///
    /// # Errors
    /// - [`GPUError::KernelNotFound`]: there is no such kernel.
    /// - [`GPUError::Generic`]: the program does not compile or load.
    pub(super) fn prepare_launch(&self, name: &str, groups: usize, group_size: usize) -> GPUResult<LaunchShape> {
        self.with_source(|source| self.device.handle.0.kernel(source, name))?;
        Ok(LaunchShape { name: name.to_owned(), groups, group_size })
    }

    /// Launches the kernel that `shape` describes with `arguments`, and waits until it has ended.
    ///
    /// The kernel's author must ensure that the arguments match its parameters and that it stays within its buffers.
    /// The interface of `rust-gpu-tools` cannot express these conditions.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: the groups, or their work-items, are 2^32 or more.
    /// - [`GPUError::Generic`]: on OpenCL, the number of arguments is not the kernel's.
    /// - [`GPUError::Generic`]: the driver or the kernel failed.
    pub(super) fn launch(&self, shape: &LaunchShape, arguments: &[Arg]) -> GPUResult<()> {
        let LaunchShape { name, groups, group_size } = shape;
        let number = |size: &usize| {
            u32::try_from(*size).map_err(|_| GPUError::Generic(format!("{name}: expected less than 2^32, got {size}")))
        };
        let (groups, group_size) = (number(groups)?, number(group_size)?);
        let items = groups as usize * group_size as usize;
        self.with_stream(|stream| {
            let queue = |source: KernelSource<'_>| {
                let launch = Launch { source, kernel: name, groups, group_size };
                record_kernel(self.device.handle.info(), name, items, || launch_timed(stream, launch, arguments))
            };
            self.with_source(queue)
        })
    }

    fn with_source<R>(&self, work: impl FnOnce(KernelSource<'_>) -> R) -> R {
        let module = self.module.get_or_init(|| self.source.module_name());
        match &self.source {
            #[cfg(feature = "opencl")]
            Source::Text(text) => work(KernelSource { module, code: KernelCode::Text(&|| text.to_string()) }),
            Source::Binary(binary) => work(KernelSource { module, code: KernelCode::Binary(binary) }),
        }
    }

    fn with_stream<R>(&self, work: impl FnOnce(&mut Stream) -> proofwarp::Result<R>) -> GPUResult<R> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = match &mut *stream {
            Some(stream) => stream,
            none => none.insert(self.device.handle.0.stream()?),
        };
        Ok(work(stream)?)
    }
}

/// Returns an error if values of type `T` own memory, because copies of their bytes would free it twice.
fn check_needs_no_drop<T>() -> GPUResult<()> {
    if std::mem::needs_drop::<T>() {
        let name = std::any::type_name::<T>();
        return Err(GPUError::Generic(format!("buffer: expected elements of plain memory, got {name}")));
    }
    Ok(())
}

/// Launches a kernel on `stream`, waits until it has ended, and returns statistics with its time and one launch.
fn launch_timed(stream: &mut Stream, launch: Launch<'_>, arguments: &[Arg]) -> proofwarp::Result<StreamStats> {
    let before = stream.stats().kernels;
    stream.begin_timing()?;
    // SAFETY: the arguments outlive the kernel, which is waited for; the kernel's author promises the rest.
    unsafe { stream.launch(launch, arguments)? };
    stream.end_timing()?;
    stream.synchronize(None)?;
    Ok(StreamStats { kernels: stream.stats().kernels.saturating_sub(before), launches: 1, ..StreamStats::default() })
}

#[cfg(test)]
mod tests {
    use super::check_needs_no_drop;

    #[test]
    fn elements_that_own_memory_are_refused() {
        assert!(check_needs_no_drop::<[u64; 4]>().is_ok() && check_needs_no_drop::<()>().is_ok());
        let error = check_needs_no_drop::<Vec<u8>>().expect_err("it owns memory").to_string();
        assert!(error.contains("expected elements of plain memory, got alloc::vec::Vec<u8>"), "{error}");
    }
}
