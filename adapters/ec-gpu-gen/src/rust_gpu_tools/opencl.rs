//! Kernels of the calling crate's own, on OpenCL.

use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use proofwarp::backend::{Arg, KernelSource, Launch, Stream};

use super::{Device, GPUError};

type Result<T> = std::result::Result<T, GPUError>;

/// Elements of type `T` on the device, which are taken to be plain memory.
#[derive(Debug)]
pub struct Buffer<T> {
    memory: proofwarp::backend::Buffer,
    length: usize,
    elements: PhantomData<T>,
}

/// A device and the text of its kernels, which is compiled when the first of them is launched.
#[derive(Debug)]
pub struct Program {
    device: Device,
    source: &'static str,
    /// Made at first use: provers that only use proofwarp's kernels need none.
    stream: Mutex<Option<Stream>>,
}

impl Program {
    pub(super) fn new(device: &Device, source: &'static str) -> Self {
        Self { device: device.clone(), source, stream: Mutex::default() }
    }

    /// A program of a text that lives as long as the process.
    ///
    /// # Errors
    /// None: the text is compiled when its first kernel is launched.
    pub fn from_opencl(device: &Device, source: &'static str) -> Result<Self> {
        Ok(Self::new(device, source))
    }

    /// The device's name.
    pub fn device_name(&self) -> &str {
        &self.device.info().name
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Runs a function on the program.
    ///
    /// # Errors
    /// Those of the function.
    pub fn run<F, R, E, A>(&self, function: F, argument: A) -> std::result::Result<R, E>
    where
        F: FnOnce(&Self, A) -> std::result::Result<R, E>,
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
    /// Out of memory, or the driver failed.
    pub unsafe fn create_buffer<T>(&self, length: usize) -> Result<Buffer<T>> {
        let memory = self.on_stream(|stream| stream.allocate(length * size_of::<T>()))?;
        Ok(Buffer { memory, length, elements: PhantomData })
    }

    /// A buffer with a copy of a slice.
    ///
    /// # Errors
    /// Out of memory, or the driver failed.
    pub fn create_buffer_from_slice<T>(&self, slice: &[T]) -> Result<Buffer<T>> {
        // SAFETY: the next line writes all of it.
        let mut buffer = unsafe { self.create_buffer(slice.len())? };
        self.write_from_buffer(&mut buffer, slice)?;
        Ok(buffer)
    }

    /// Copies a slice to the start of a buffer.
    ///
    /// # Errors
    /// The slice is longer than the buffer, or the driver failed.
    pub fn write_from_buffer<T>(&self, buffer: &mut Buffer<T>, data: &[T]) -> Result<()> {
        // SAFETY: elements are plain memory, as the type of the buffer says, and the length is theirs.
        let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) };
        self.on_stream(|stream| stream.upload(&buffer.memory, bytes))
    }

    /// Copies the start of a buffer to a slice, after the kernels launched before.
    ///
    /// # Errors
    /// The slice is longer than the buffer, or the driver or a kernel failed.
    pub fn read_into_buffer<T>(&self, buffer: &Buffer<T>, data: &mut [T]) -> Result<()> {
        // SAFETY: elements are plain memory, as the type of the buffer says, and the length is theirs.
        let bytes = unsafe { std::slice::from_raw_parts_mut(data.as_mut_ptr().cast(), size_of_val(data)) };
        self.on_stream(|stream| stream.download(bytes, &buffer.memory))
    }

    /// A kernel to be given its arguments and run, by `global_work_size` groups of `local_work_size`.
    ///
    /// # Errors
    /// There are too many groups, or work-items of a group.
    pub fn create_kernel(&self, name: &str, global_work_size: usize, local_work_size: usize) -> Result<Kernel<'_>> {
        let number = |size| u32::try_from(size).map_err(|_| GPUError::Generic(format!("{name}: {size} is too large")));
        let (groups, group_size) = (number(global_work_size)?, number(local_work_size)?);
        Ok(Kernel { program: self, name: name.to_owned(), groups, group_size, arguments: Vec::new() })
    }

    fn on_stream<R>(&self, work: impl FnOnce(&mut Stream) -> proofwarp::Result<R>) -> Result<R> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = match &mut *stream {
            Some(stream) => stream,
            none => none.insert(self.device.0.stream()?),
        };
        Ok(work(stream)?)
    }
}

/// What a kernel takes as an argument.
pub trait KernelArgument {
    /// Appends it to the kernel's arguments.
    fn push(&self, kernel: &mut Kernel<'_>);
}

impl<T> KernelArgument for Buffer<T> {
    fn push(&self, kernel: &mut Kernel<'_>) {
        debug_assert!(self.memory.bytes() == self.length * size_of::<T>());
        kernel.arguments.push(Arg::Memory(self.memory.handle()));
    }
}

impl KernelArgument for u32 {
    fn push(&self, kernel: &mut Kernel<'_>) {
        kernel.arguments.push(Arg::U32(*self));
    }
}

impl KernelArgument for i32 {
    fn push(&self, kernel: &mut Kernel<'_>) {
        kernel.arguments.push(Arg::U32(self.cast_unsigned()));
    }
}

/// A kernel with the arguments that it has been given so far, which outlive it.
#[derive(Debug)]
pub struct Kernel<'a> {
    program: &'a Program,
    name: String,
    groups: u32,
    group_size: u32,
    arguments: Vec<Arg>,
}

impl<'a> Kernel<'a> {
    /// Appends an argument.
    #[must_use]
    pub fn arg<T: KernelArgument>(mut self, argument: &'a T) -> Self {
        argument.push(&mut self);
        self
    }

    /// Launches it, after what was launched before.
    ///
    /// That the arguments are those of the kernel and that it keeps to its buffers is for the author of the
    /// kernel to see to, since this function's name and type are those of the interface that it stands in for.
    ///
    /// # Errors
    /// The text does not compile or has no such kernel, the number of arguments is not the kernel's, or the
    /// driver failed.
    pub fn run(self) -> Result<()> {
        let source = self.program.source;
        // A text that lives as long as the process is told from others by where it is.
        let module = format!("appended_{:p}_{}", source.as_ptr(), source.len());
        let source = KernelSource { module: &module, text: &|| source.to_owned() };
        let launch = Launch { source, kernel: &self.name, groups: self.groups, group_size: self.group_size };
        // SAFETY: buffers outlive the kernel and return to the pool of this stream, in whose order they are
        // used again; the rest is the promise of the kernel's author.
        self.program.on_stream(|stream| unsafe { stream.launch(launch, &self.arguments) })
    }
}
