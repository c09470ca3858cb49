//! A device with its buffers and kernels.

use std::sync::{Arc, Mutex};

use ff::PrimeField;
use halo2curves::bn256::Fr;
use proofwarp::Error;
use proofwarp::field::{DeviceVector, as_bytes, as_bytes_mut};

use super::buffer::{Buffer, Column, Memory, Place, another_device, lock};
use super::kernel::Kernel;
use super::names;
use crate::known;
use crate::rust_gpu_tools::GPUError;
use crate::rust_gpu_tools::error::GPUResult;
use crate::rust_gpu_tools::queue::Queue;

/// A device, with kernels by name. What programs of one device do is done in the order in which it was asked for.
#[derive(Debug, Clone)]
pub struct Program {
    /// None where the device is the host.
    queue: Option<Arc<Queue>>,
}

impl Program {
    pub(in crate::rust_gpu_tools) fn new(queue: Option<Arc<Queue>>) -> Self {
        Self { queue }
    }

    pub(in crate::rust_gpu_tools) fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// Room for `length` elements, which are zero.
    ///
    /// # Safety
    /// None is needed; callers expect that there is.
    ///
    /// # Errors
    /// The elements are not BN254's scalars, or the device is out of memory, or failed.
    pub unsafe fn create_buffer<T: PrimeField>(&self, length: usize) -> GPUResult<Buffer<T>> {
        known::elements::<T>(&[])?;
        let place = match &self.queue {
            None => Place::Host(Mutex::new(Arc::new(Column(vec![Fr::zero(); length])))),
            Some(queue) => Place::Device(queue.with(|stream| DeviceVector::allocate(stream, length))?),
        };
        Ok(Buffer::new(Memory::new(place, None)))
    }

    /// A buffer with a copy of a slice.
    ///
    /// # Errors
    /// The elements are not BN254's scalars, or the device is out of memory, or failed.
    pub fn create_buffer_from_slice<T: PrimeField>(&self, slice: &[T]) -> GPUResult<Buffer<T>> {
        let elements = known::elements(slice)?;
        let place = match &self.queue {
            None => Place::Host(Mutex::new(Arc::new(Column(elements.to_vec())))),
            Some(queue) => Place::Device(queue.copy(|stream| DeviceVector::upload(stream, elements))?),
        };
        Ok(Buffer::new(Memory::new(place, elements.first().copied())))
    }

    /// Copies a slice to the start of a buffer.
    ///
    /// # Errors
    /// The slice is longer than the buffer, which is another device's, or the device failed.
    pub fn write_from_buffer<T: PrimeField>(&self, buffer: &mut Buffer<T>, data: &[T]) -> GPUResult<()> {
        let (elements, memory) = (known::elements(data)?, buffer.memory());
        check_length("write_from_buffer", memory, elements.len())?;
        match (&memory.place, &self.queue) {
            (Place::Device(vector), Some(queue)) => {
                queue.copy(|stream| stream.upload(vector.buffer(), as_bytes(elements)))?;
            }
            (Place::Host(column), None) => {
                Arc::make_mut(&mut *lock(column))[..elements.len()].copy_from_slice(elements);
            }
            _ => return Err(another_device("write_from_buffer")),
        }
        if let Some(first) = elements.first() {
            *lock(&memory.first) = Some(*first);
        }
        Ok(())
    }

    /// Copies the start of a buffer to a slice, after the kernels launched before.
    ///
    /// # Errors
    /// The slice is longer than the buffer, which is another device's, or the device or a kernel failed.
    pub fn read_into_buffer<T: PrimeField>(&self, buffer: &Buffer<T>, data: &mut [T]) -> GPUResult<()> {
        let (elements, memory) = (known::elements_mut(data)?, buffer.memory());
        check_length("read_into_buffer", memory, elements.len())?;
        match (&memory.place, &self.queue) {
            (Place::Device(vector), Some(queue)) => queue.read(elements.len(), |stream| {
                // SAFETY: kernels leave reduced elements in Montgomery form.
                stream.download(unsafe { as_bytes_mut(elements) }, vector.buffer())
            })?,
            (Place::Host(column), None) => elements.copy_from_slice(&lock(column)[..elements.len()]),
            _ => return Err(another_device("read_into_buffer")),
        }
        Ok(())
    }

    /// A kernel to be given its arguments and run, by `groups` groups of `group_size` work-items. No groups at all stand for as
    /// many as there are rows: that is what fewer rows than a group has are divided to.
    ///
    /// # Errors
    /// There is no such kernel.
    pub fn create_kernel(&self, name: &str, groups: usize, group_size: usize) -> GPUResult<Kernel<'_>> {
        let kind = names::find(name).ok_or_else(|| GPUError::KernelNotFound(name.to_owned()))?;
        Ok(Kernel::new(self.queue.as_deref(), name, kind, groups.saturating_mul(group_size)))
    }
}

fn check_length(place: &'static str, memory: &Memory, length: usize) -> GPUResult<()> {
    if length <= memory.len() {
        return Ok(());
    }
    Err(Error::invalid(place, "elements", format!("at most {}", memory.len()), length).into())
}
