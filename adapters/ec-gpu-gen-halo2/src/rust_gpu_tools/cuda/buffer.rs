//! Holds elements in a device's memory, or in the host's if that is the device.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halo2curves::bn256::Fr;
use proofwarp::Error;
use proofwarp::field::DeviceVector;

use crate::rust_gpu_tools::GPUError;
use crate::rust_gpu_tools::error::GPUResult;

/// Holds elements of type `T`, one of the types of BN254's scalar field, in device or host memory. The memory is
/// cleared once the buffer is dropped, before it is used again.
pub struct Buffer<T> {
    memory: Memory,
    elements: PhantomData<T>,
}

impl<T> Buffer<T> {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, elements: PhantomData }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl<T> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.memory.len()).finish_non_exhaustive()
    }
}

/// Holds a buffer's elements, on a device or on the host.
#[doc(hidden)]
pub(crate) struct Memory {
    pub(super) place: Storage,
    /// The first element, while the host knows it: transforms get their root from it.
    pub(super) first: Mutex<Option<Fr>>,
}

pub(super) enum Storage {
    Device(DeviceVector<Fr>),
    Host(Mutex<Arc<Column>>),
}

impl Memory {
    pub(crate) fn new(place: Storage, first: Option<Fr>) -> Self {
        Self { place, first: Mutex::new(first) }
    }

    /// Returns the number of elements.
    pub(crate) fn len(&self) -> usize {
        match &self.place {
            Storage::Device(vector) => vector.len(),
            Storage::Host(column) => lock(column).len(),
        }
    }

    /// Drops the host's copy of the first element, because a kernel may have changed the element.
    pub(crate) fn forget_first(&self) {
        *lock(&self.first) = None;
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds elements in host memory, and overwrites them with zeros when dropped.
#[derive(Clone)]
pub(super) struct Column(pub Vec<Fr>);

impl Deref for Column {
    type Target = [Fr];

    fn deref(&self) -> &[Fr] {
        &self.0
    }
}

impl DerefMut for Column {
    fn deref_mut(&mut self) -> &mut [Fr] {
        &mut self.0
    }
}

impl Drop for Column {
    fn drop(&mut self) {
        self.0.fill(Fr::zero());
        // Keeps these stores, which nothing reads, from being optimised away.
        std::hint::black_box(&self.0);
    }
}

/// Replaces the first elements of `column` by `rows`.
pub(super) fn put(column: &mut Arc<Column>, rows: Column) {
    if rows.len() == column.len() {
        *column = Arc::new(rows);
    } else {
        Arc::make_mut(column)[..rows.len()].copy_from_slice(&rows);
    }
}

/// Returns the device vector of `memory`, or an error if `memory` is on the host.
pub(super) fn vector(memory: &Memory) -> GPUResult<&DeviceVector<Fr>> {
    match &memory.place {
        Storage::Device(vector) => Ok(vector),
        Storage::Host(_) => Err(another_device("kernel")),
    }
}

/// Returns the host column of `memory`, or an error if `memory` is on a device.
pub(super) fn column(memory: &Memory) -> GPUResult<Arc<Column>> {
    match &memory.place {
        Storage::Host(column) => Ok(lock(column).clone()),
        Storage::Device(_) => Err(another_device("kernel")),
    }
}

/// Returns the error for a buffer that is not on the program's device. `place` names the call.
pub(super) fn another_device(place: &'static str) -> GPUError {
    Error::invalid(place, "buffer", "one of the program's device", "one of another").into()
}
