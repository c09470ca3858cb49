//! Field elements that stay on a device.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{Element, as_bytes, as_bytes_mut};
use crate::backend::{Buffer, Device, Stream};
use crate::{Error, Result};

/// Elements in Montgomery form in a device's memory, cleared when dropped.
#[derive(Debug)]
pub struct DeviceVector<F> {
    device: Arc<Device>,
    buffer: Arc<Buffer>,
    len: usize,
    elements: PhantomData<F>,
}

impl<F: Element> DeviceVector<F> {
    /// Queues the upload of elements; returns once they have been read.
    ///
    /// # Errors
    /// The device has too little memory, or failed.
    pub fn upload(stream: &mut Stream, elements: &[F]) -> Result<Self> {
        let vector = Self::allocate(stream, elements.len())?;
        stream.upload(&vector.buffer, as_bytes(elements))?;
        Ok(vector)
    }

    /// Memory for elements, with undefined contents, to be written by what is queued on the stream.
    ///
    /// # Errors
    /// The device has too little memory.
    pub fn allocate(stream: &Stream, len: usize) -> Result<Self> {
        Ok(Self::of(stream, stream.allocate(len * size_of::<F>())?.secret(), len))
    }

    /// The same for what lives between two steps of a proof and is written before it is read: [`Stream::scratch`].
    ///
    /// # Errors
    /// The device has too little memory.
    pub(crate) fn scratch(stream: &Stream, len: usize) -> Result<Self> {
        Ok(Self::of(stream, stream.scratch(len * size_of::<F>())?, len))
    }

    fn of(stream: &Stream, buffer: Buffer, len: usize) -> Self {
        Self { device: stream.device().clone(), buffer: Arc::new(buffer), len, elements: PhantomData }
    }

    /// Copies the elements to the host, after what is queued on the stream.
    ///
    /// # Errors
    /// There are not as many, or the device failed.
    pub fn download(&self, stream: &mut Stream, elements: &mut [F]) -> Result<()> {
        if elements.len() != self.len {
            return Err(Error::invalid("DeviceVector::download", "length of the slice", self.len, elements.len()));
        }
        // SAFETY: kernels leave reduced elements in Montgomery form.
        stream.download(unsafe { as_bytes_mut(elements) }, &self.buffer)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that has them.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Their memory, as scalars of an MSM for instance.
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// That it lies on the stream's device, so that kernels of the stream may use it.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn check_on(&self, stream: &Stream) -> Result<()> {
        if stream.device().owns(&self.buffer) {
            return Ok(());
        }
        let expected = format!("on {}", stream.device().info().name);
        Err(Error::invalid("DeviceVector", "device", expected, format!("on {}", self.device.info().name)))
    }
}
