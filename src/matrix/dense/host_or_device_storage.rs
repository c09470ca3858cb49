//! Stores a matrix's entries on the host or on a device.

use std::sync::Arc;

use super::element_and_accumulator::{Entry, bytes_of, bytes_of_mut};
use crate::Result;
use crate::backend::{Abort, Buffer, Device};
use crate::secret_vec::SecretVec;

/// Holds entries in the memory of the host or of a device.
#[derive(Debug, Clone)]
pub(super) enum Storage<T: Entry> {
    Host(Arc<SecretVec<T>>),
    Device(Arc<Device>, Arc<Buffer>),
}

impl<T: Entry> Storage<T> {
    pub(super) fn from_host(entries: Vec<T>) -> Self {
        Self::Host(Arc::new(SecretVec(entries)))
    }

    /// Uploads `entries` to `device` and waits for the copy.
    pub(super) fn upload(device: &Arc<Device>, entries: &[T], abort: Abort<'_>) -> Result<Self> {
        let mut stream = device.stream()?;
        let buffer = stream.allocate(size_of_val(entries))?.mark_secret();
        stream.upload_abortable(&buffer, 0, bytes_of(entries), abort)?;
        stream.synchronize(abort)?;
        Ok(Self::Device(device.clone(), Arc::new(buffer)))
    }

    /// Returns the number of entries that the memory has room for.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Host(entries) => entries.len(),
            Self::Device(_, buffer) => buffer.bytes() / size_of::<T>(),
        }
    }

    pub(super) fn device(&self) -> Option<&Arc<Device>> {
        match self {
            Self::Host(_) => None,
            Self::Device(device, _) => Some(device),
        }
    }

    /// Returns all entries in host memory. Entries on a device are downloaded.
    pub(super) fn host_entries(&self) -> Result<Arc<SecretVec<T>>> {
        match self {
            Self::Host(entries) => Ok(entries.clone()),
            Self::Device(device, buffer) => {
                let mut entries = SecretVec(vec![T::default(); self.len()]);
                // SAFETY: kernels and uploads leave valid entries of the type.
                device.stream()?.download(unsafe { bytes_of_mut(&mut entries) }, buffer)?;
                Ok(Arc::new(entries))
            }
        }
    }

    /// Returns a host copy of the `count` entries from index `first` on, which must exist.
    pub(super) fn download_range(&self, first: usize, count: usize) -> Result<Vec<T>> {
        match self {
            _ if count == 0 => Ok(Vec::new()),
            Self::Host(entries) => Ok(entries[first..first + count].to_vec()),
            Self::Device(device, buffer) => {
                let mut entries = SecretVec(vec![T::default(); count]);
                // SAFETY: kernels and uploads leave valid entries of the type.
                let bytes = unsafe { bytes_of_mut(&mut entries) };
                device.stream()?.download_at(bytes, buffer, first * size_of::<T>())?;
                Ok(std::mem::take(&mut entries.0))
            }
        }
    }

    /// Returns whether no other matrix shares the memory.
    pub(super) fn is_alone(&self) -> bool {
        match self {
            Self::Host(entries) => Arc::strong_count(entries) == 1,
            Self::Device(_, buffer) => Arc::strong_count(buffer) == 1,
        }
    }
}
