//! Kernels of the calling crate's own: what programs of both frameworks have in common.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, OnceLock, PoisonError};

use proofwarp::backend::{Arg, Code, KernelSource, Launch, Stream, Traffic};
use proofwarp::report::own_kernel;
use proofwarp::{Accelerator, BackendKind};
use sha2::{Digest, Sha256};

use super::error::GPUResult;
use super::handle::Handle;
use super::wishes::forced_backend;
use super::{DeviceUuid, GPUError, PciId, Vendor};

/// A device that a framework reaches.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Device<F> {
    pub(super) handle: Handle,
    framework: PhantomData<F>,
}

impl<F> Device<F> {
    /// The devices of the framework's backend; none where another is forced.
    pub(super) fn all_of(backend: BackendKind) -> Vec<Self> {
        if forced_backend().is_some_and(|forced| forced != backend) {
            return Vec::new();
        }
        let accelerator = Accelerator::with_backend(backend);
        let devices = accelerator.as_ref().map(Accelerator::devices).unwrap_or_default();
        devices.iter().cloned().map(|device| Self { handle: Handle(device), framework: PhantomData }).collect()
    }

    /// Who made it.
    pub fn vendor(&self) -> Vendor {
        self.handle.vendor()
    }

    /// The vendor's name for it.
    pub fn name(&self) -> String {
        self.handle.info().name.clone()
    }

    /// Total memory in bytes.
    pub fn memory(&self) -> u64 {
        self.handle.info().memory
    }

    /// Multiprocessors or compute units.
    pub fn compute_units(&self) -> u32 {
        self.handle.info().compute_units
    }

    /// Its place on the PCI bus, or one made up where it has none.
    pub fn pci_id(&self) -> PciId {
        self.handle.pci_id()
    }

    /// Its universally unique identifier.
    #[allow(clippy::unnecessary_wraps, reason = "the stock crate's interface")]
    pub fn uuid(&self) -> Option<DeviceUuid> {
        Some(self.handle.uuid())
    }
}

/// Memory local to a work-group, of so many elements, as an argument of a kernel; one at most may be.
#[derive(Debug)]
pub struct LocalBuffer<T> {
    length: usize,
    elements: PhantomData<T>,
}

impl<T> LocalBuffer<T> {
    /// Room for so many elements.
    pub fn new(length: usize) -> Self {
        Self { length, elements: PhantomData }
    }

    /// Its size; more than any device has where it is too large for a number.
    pub(super) fn bytes(&self) -> u32 {
        let bytes = self.length.checked_mul(size_of::<T>()).and_then(|bytes| u32::try_from(bytes).ok());
        bytes.unwrap_or(u32::MAX)
    }
}

/// Fails where a kernel is given several local buffers.
pub(super) fn check_local_buffers(count: usize) -> GPUResult<()> {
    match count {
        0 | 1 => Ok(()),
        _ => Err(GPUError::Generic(format!("There cannot be more than one `LocalBuffer`, got {count}."))),
    }
}

/// Elements of type `T` on the device, which are taken to be plain memory.
#[derive(Debug)]
pub struct Buffer<T, F> {
    memory: proofwarp::backend::Buffer,
    /// What kernels are given of it: CUDA's address, or OpenCL's object.
    pub(super) address: usize,
    elements: PhantomData<(T, F)>,
}

/// What kernels are made from.
pub(super) enum Source {
    /// OpenCL C.
    #[cfg(feature = "opencl")]
    Text(Cow<'static, str>),
    /// What the driver loads as it is.
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

    /// The name of its module: equal ones are loaded once.
    fn module(&self) -> String {
        format!("appended_{:x}", Sha256::digest(self.bytes()))
    }
}

/// How a kernel is launched: its name, the number of groups and their size.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) groups: usize,
    pub(super) group_size: usize,
}

/// A device and kernels, which are compiled or loaded when the first of them is created: provers that only use proofwarp's
/// own need none of these.
///
/// Every call returns when the device has done what it says, so programs of one device may share buffers.
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

    /// The device's name.
    pub fn device_name(&self) -> &str {
        &self.device.handle.info().name
    }

    /// Runs a function on the program.
    ///
    /// # Errors
    /// Those of the function.
    pub fn run<C, R, E, A>(&self, function: C, argument: A) -> Result<R, E>
    where
        C: FnOnce(&Self, A) -> Result<R, E>,
        E: From<GPUError>,
    {
        function(self, argument)
    }

    /// Room for `length` elements, with undefined contents.
    ///
    /// # Safety
    /// The contents are written before they are read.
    ///
    /// # Errors
    /// Elements of `T` own memory, such as a `Vec`, out of memory, or the driver failed.
    pub unsafe fn create_buffer<T>(&self, length: usize) -> GPUResult<Buffer<T, F>> {
        check_plain::<T>()?;
        let too_large = || GPUError::Generic(format!("create_buffer: {length} elements are too many"));
        let bytes = length.checked_mul(size_of::<T>()).ok_or_else(too_large)?;
        let memory = self.on_stream(|stream| stream.allocate(bytes))?;
        Ok(Buffer { address: memory.handle().0, memory, elements: PhantomData })
    }

    /// A buffer with a copy of a slice.
    ///
    /// # Errors
    /// Elements of `T` own memory, such as a `Vec`, out of memory, or the driver failed.
    pub fn create_buffer_from_slice<T>(&self, slice: &[T]) -> GPUResult<Buffer<T, F>> {
        // SAFETY: the next line writes all of it.
        let mut buffer = unsafe { self.create_buffer(slice.len())? };
        self.write_from_buffer(&mut buffer, slice)?;
        Ok(buffer)
    }

    /// Copies a slice to the start of a buffer.
    ///
    /// # Errors
    /// The slice is longer than the buffer, or the driver failed.
    pub fn write_from_buffer<T>(&self, buffer: &mut Buffer<T, F>, data: &[T]) -> GPUResult<()> {
        // SAFETY: elements are plain memory, as the type of the buffer says, and the length is theirs.
        let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) };
        self.on_stream(|stream| stream.upload(&buffer.memory, bytes).and_then(|()| stream.wait(None)))
    }

    /// Copies the start of a buffer to a slice, after the kernels launched before.
    ///
    /// # Errors
    /// The slice is longer than the buffer, or the driver or a kernel failed.
    pub fn read_into_buffer<T>(&self, buffer: &Buffer<T, F>, data: &mut [T]) -> GPUResult<()> {
        // SAFETY: elements are plain memory, as the type of the buffer says, and the length is theirs.
        let bytes = unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast(), size_of_val(data)) };
        self.on_stream(|stream| stream.download(bytes, &buffer.memory))
    }

    /// How a kernel is to be launched.
    ///
    /// # Errors
    /// There is no such kernel, or the program does not compile or load.
    pub(super) fn shape(&self, name: &str, groups: usize, group_size: usize) -> GPUResult<Shape> {
        self.with_source(|source| self.device.handle.0.kernel(source, name))?;
        Ok(Shape { name: name.to_owned(), groups, group_size })
    }

    /// Launches a kernel, and waits for it.
    ///
    /// That the arguments are those of the kernel and that it keeps to its buffers is for the author of the kernel to see to,
    /// since the interface that this stands in for has no word for it.
    ///
    /// # Errors
    /// There are too many groups, the number of arguments is not the kernel's, or the driver or the kernel failed.
    pub(super) fn launch(&self, shape: &Shape, arguments: &[Arg]) -> GPUResult<()> {
        let Shape { name, groups, group_size } = shape;
        let number = |size: &usize| {
            u32::try_from(*size).map_err(|_| GPUError::Generic(format!("{name}: expected less than 2^32, got {size}")))
        };
        let (groups, group_size) = (number(groups)?, number(group_size)?);
        let items = groups as usize * group_size as usize;
        self.on_stream(|stream| {
            let queue = |source: KernelSource<'_>| {
                let launch = Launch { source, kernel: name, groups, group_size };
                own_kernel(self.device.handle.info(), name, items, || run(stream, launch, arguments))
            };
            self.with_source(queue)
        })
    }

    fn with_source<R>(&self, work: impl FnOnce(KernelSource<'_>) -> R) -> R {
        let module = self.module.get_or_init(|| self.source.module());
        match &self.source {
            #[cfg(feature = "opencl")]
            Source::Text(text) => work(KernelSource { module, code: Code::Text(&|| text.to_string()) }),
            Source::Binary(binary) => work(KernelSource { module, code: Code::Binary(binary) }),
        }
    }

    fn on_stream<R>(&self, work: impl FnOnce(&mut Stream) -> proofwarp::Result<R>) -> GPUResult<R> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = match &mut *stream {
            Some(stream) => stream,
            none => none.insert(self.device.handle.0.stream()?),
        };
        Ok(work(stream)?)
    }
}

/// Refuses types whose values own memory: copies of their bytes would free it twice.
fn check_plain<T>() -> GPUResult<()> {
    if std::mem::needs_drop::<T>() {
        let name = std::any::type_name::<T>();
        return Err(GPUError::Generic(format!("buffer: expected elements of plain memory, got {name}")));
    }
    Ok(())
}

/// Launches a kernel and waits for it; what that took.
fn run(stream: &mut Stream, launch: Launch<'_>, arguments: &[Arg]) -> proofwarp::Result<Traffic> {
    let before = stream.traffic().kernels;
    stream.mark_start()?;
    // SAFETY: the arguments outlive the kernel, which is waited for; the rest is the promise of its author.
    unsafe { stream.launch(launch, arguments)? };
    stream.mark_end()?;
    stream.wait(None)?;
    Ok(Traffic { kernels: stream.traffic().kernels.saturating_sub(before), launches: 1, ..Traffic::default() })
}

#[cfg(test)]
mod tests {
    use super::check_plain;

    #[test]
    fn elements_that_own_memory_are_refused() {
        assert!(check_plain::<[u64; 4]>().is_ok() && check_plain::<()>().is_ok());
        let error = check_plain::<Vec<u8>>().expect_err("it owns memory").to_string();
        assert!(error.contains("expected elements of plain memory, got alloc::vec::Vec<u8>"), "{error}");
    }
}
