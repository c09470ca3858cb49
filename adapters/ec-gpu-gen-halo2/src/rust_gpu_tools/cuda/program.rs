//! Provides a device with its buffers and kernels.

use std::sync::{Arc, Mutex};

use ff::PrimeField;
use halo2curves::bn256::Fr;
use proofwarp::Error;
use proofwarp::field::{DeviceVector, as_bytes, as_bytes_mut};

use super::buffer::{Buffer, Column, Memory, Storage, another_device, lock};
use super::kernel::Kernel;
use super::kernel_names;
use crate::rust_gpu_tools::GPUError;
use crate::rust_gpu_tools::error::GPUResult;
use crate::rust_gpu_tools::queue::Queue;
use crate::type_check;

/// Creates buffers and kernels on a device, or on the host. Work of all programs of a device runs in the order of the
/// calls.
#[derive(Debug, Clone)]
pub struct Program {
    /// `None` if the device is the host.
    queue: Option<Arc<Queue>>,
}

impl Program {
    pub(in crate::rust_gpu_tools) fn new(queue: Option<Arc<Queue>>) -> Self {
        Self { queue }
    }

    pub(in crate::rust_gpu_tools) fn queue(&self) -> Option<&Arc<Queue>> {
        self.queue.as_ref()
    }

    /// Creates a buffer of `length` elements, which are zero.
    ///
    /// # Safety
    /// There are no requirements; callers expect an unsafe function.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: the elements are not BN254's scalars.
    /// - [`GPUError::Generic`]: the device is out of memory.
    /// - [`GPUError::Generic`]: the device failed.
    pub unsafe fn create_buffer<T: PrimeField>(&self, length: usize) -> GPUResult<Buffer<T>> {
        type_check::elements::<T>(&[])?;
        let place = match &self.queue {
            None => Storage::Host(Mutex::new(Arc::new(Column(vec![Fr::zero(); length])))),
            Some(queue) => Storage::Device(queue.with(|stream| DeviceVector::allocate(stream, length))?),
        };
        Ok(Buffer::new(Memory::new(place, None)))
    }

    /// Creates a buffer with a copy of `slice`.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: the elements are not BN254's scalars.
    /// - [`GPUError::Generic`]: the device is out of memory.
    /// - [`GPUError::Generic`]: the device failed.
    pub fn create_buffer_from_slice<T: PrimeField>(&self, slice: &[T]) -> GPUResult<Buffer<T>> {
        let elements = type_check::elements(slice)?;
        let place = match &self.queue {
            None => Storage::Host(Mutex::new(Arc::new(Column(elements.to_vec())))),
            Some(queue) => Storage::Device(queue.copy(|stream| DeviceVector::upload(stream, elements))?),
        };
        Ok(Buffer::new(Memory::new(place, elements.first().copied())))
    }

    /// Copies `data` to the start of `buffer`.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: the slice is longer than the buffer.
    /// - [`GPUError::Generic`]: the buffer is another device's.
    /// - [`GPUError::Generic`]: the device failed.
    pub fn write_from_buffer<T: PrimeField>(&self, buffer: &mut Buffer<T>, data: &[T]) -> GPUResult<()> {
        let (elements, memory) = (type_check::elements(data)?, buffer.memory());
        check_length("write_from_buffer", memory, elements.len())?;
        match (&memory.place, &self.queue) {
            (Storage::Device(vector), Some(queue)) => {
                queue.copy(|stream| stream.upload(vector.buffer(), as_bytes(elements)))?;
            }
            (Storage::Host(column), None) => {
                Arc::make_mut(&mut *lock(column))[..elements.len()].copy_from_slice(elements);
            }
            _ => return Err(another_device("write_from_buffer")),
        }
        if let Some(first) = elements.first() {
            *lock(&memory.first) = Some(*first);
        }
        Ok(())
    }

    /// Fills `data` with the first elements of `buffer`, after all kernels launched before.
    ///
    /// # Errors
    /// - [`GPUError::Generic`]: the slice is longer than the buffer.
    /// - [`GPUError::Generic`]: the buffer is another device's.
    /// - [`GPUError::Generic`]: the device or a kernel failed.
    pub fn read_into_buffer<T: PrimeField>(&self, buffer: &Buffer<T>, data: &mut [T]) -> GPUResult<()> {
        let (elements, memory) = (type_check::elements_mut(data)?, buffer.memory());
        check_length("read_into_buffer", memory, elements.len())?;
        match (&memory.place, &self.queue) {
            (Storage::Device(vector), Some(queue)) => queue.read(elements.len(), |stream| {
                // SAFETY: kernels leave reduced elements in Montgomery form.
                stream.download(unsafe { as_bytes_mut(elements) }, vector.buffer())
            })?,
            (Storage::Host(column), None) => elements.copy_from_slice(&lock(column)[..elements.len()]),
            _ => return Err(another_device("read_into_buffer")),
        }
        Ok(())
    }

    /// Creates a launch of the kernel `name` by `groups` groups of `group_size` work-items each. Its arguments are
    /// appended later. 0 groups stand for one work-item per row: callers divide rows by the group size, which gives 0
    /// for fewer rows than a group has.
    ///
    /// # Errors
    /// - [`GPUError::KernelNotFound`]: there is no such kernel.
    pub fn create_kernel(&self, name: &str, groups: usize, group_size: usize) -> GPUResult<Kernel<'_>> {
        let kind = kernel_names::find(name).ok_or_else(|| GPUError::KernelNotFound(name.to_owned()))?;
        Ok(Kernel::new(self.queue.as_deref(), name, kind, groups.saturating_mul(group_size)))
    }
}

fn check_length(place: &'static str, memory: &Memory, length: usize) -> GPUResult<()> {
    if length <= memory.len() {
        return Ok(());
    }
    Err(Error::invalid(place, "elements", format!("at most {}", memory.len()), length).into())
}
