//! Field elements that stay on a device.
#![warn(clippy::arithmetic_side_effects)]

use std::marker::PhantomData;
use std::sync::Arc;

use super::{Element, as_bytes, as_bytes_mut};
use crate::backend::{Buffer, Device, ForeignMemory, Stream};
use crate::checked_size::byte_len;
use crate::kernel_arguments::{In, Out};
use crate::{Error, Result};

/// Holds field elements in Montgomery form in a device's memory. The memory is cleared when dropped.
#[derive(Debug)]
pub struct DeviceVector<F> {
    device: Arc<Device>,
    buffer: Arc<Buffer>,
    len: usize,
    elements: PhantomData<F>,
}

impl<F: Element> DeviceVector<F> {
    /// Creates a vector on the stream's device, and queues the upload of `elements`. Returns once they have been read.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver failed.
    pub fn upload(stream: &mut Stream, elements: &[F]) -> Result<Self> {
        let vector = Self::allocate_uninit(stream, elements.len())?;
        stream.upload(&vector.buffer, as_bytes(elements))?;
        Ok(vector)
    }

    /// Creates a vector of `len` zeros on the stream's device. The stream writes the zeros.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `len` elements exceed the address space.
    /// - [`Error::OutOfMemory`]: the device has too little memory.
    /// - [`Error::Device`]: the driver failed.
    pub fn allocate(stream: &mut Stream, len: usize) -> Result<Self> {
        let vector = Self::allocate_uninit(stream, len)?;
        stream.zero(&vector.buffer)?;
        Ok(vector)
    }

    /// Takes over `memory` of another library by [`Stream::adopt`]. The vector's length is the number of whole elements in
    /// the memory. The elements are not copied.
    ///
    /// # Safety
    /// Once the commands of the library's stream have run, the memory holds reduced elements in Montgomery form.
    ///
    /// # Errors
    /// - Errors are those of [`Stream::adopt`].
    pub unsafe fn adopt(stream: &Stream, memory: Box<dyn ForeignMemory>) -> Result<Self> {
        let len = memory.bytes().checked_div(size_of::<F>()).unwrap_or(0);
        Ok(Self::from_buffer(stream, stream.adopt(memory)?, len))
    }

    /// Allocates memory for `len` elements with undefined contents. The caller's kernels must write the elements before
    /// anything reads them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `len` elements exceed the address space.
    /// - [`Error::OutOfMemory`]: the device has too little memory.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn allocate_uninit(stream: &Stream, len: usize) -> Result<Self> {
        let bytes = byte_len::<F>("DeviceVector::allocate", len)?;
        Ok(Self::from_buffer(stream, stream.allocate(bytes)?.mark_secret(), len))
    }

    /// Allocates memory for `len` intermediate values of a proof, with undefined contents, by [`Stream::scratch`].
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `len` elements exceed the address space.
    /// - [`Error::OutOfMemory`]: the device has too little memory.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn scratch(stream: &Stream, len: usize) -> Result<Self> {
        let bytes = byte_len::<F>("DeviceVector::allocate", len)?;
        Ok(Self::from_buffer(stream, stream.scratch(bytes)?, len))
    }

    fn from_buffer(stream: &Stream, buffer: Buffer, len: usize) -> Self {
        Self { device: stream.device().clone(), buffer: Arc::new(buffer), len, elements: PhantomData }
    }

    /// Returns the vector as an argument of a kernel that reads it.
    pub(crate) fn as_in(&self) -> In<'_, F> {
        In::new(&self.buffer)
    }

    /// Returns the vector as an argument of a kernel that writes it.
    pub(crate) fn as_out(&self) -> Out<'_, F> {
        Out::new(&self.buffer)
    }

    /// Copies the vector to `elements` on the host, after the commands queued on `stream`, and waits for the copy.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `elements` has another length, or the vector is on another device.
    /// - [`Error::Device`]: the driver failed; `elements` may then be partly written.
    pub fn download(&self, stream: &mut Stream, elements: &mut [F]) -> Result<()> {
        if elements.len() != self.len {
            return Err(Error::invalid("DeviceVector::download", "length of the slice", self.len, elements.len()));
        }
        // SAFETY: kernels leave reduced elements in Montgomery form.
        stream.download(unsafe { as_bytes_mut(elements) }, &self.buffer)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device that holds the elements.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Returns the memory of the elements, for example as scalars of an MSM.
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// Makes the kernels queued next on `stream`, which read the elements, wait for other streams' writes.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the vector is on another device.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn wait_before_read(&self, stream: &Stream) -> Result<()> {
        self.check_device(stream)?;
        stream.order_read(&self.buffer)
    }

    /// Makes the kernels queued next on `stream`, which write the elements, wait for other streams' commands on them.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the vector is on another device.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn wait_before_write(&self, stream: &Stream) -> Result<()> {
        self.check_device(stream)?;
        stream.order_write(&self.buffer)
    }

    fn check_device(&self, stream: &Stream) -> Result<()> {
        if stream.device().owns(&self.buffer) {
            return Ok(());
        }
        let expected = format!("on {}", stream.device().info().name);
        Err(Error::invalid("DeviceVector", "device", expected, format!("on {}", self.device.info().name)))
    }
}
