//! Holds field elements in pinned host memory.
#![warn(clippy::arithmetic_side_effects)]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use super::Element;
use crate::Result;
use crate::backend::{PinnedBuffer, Stream};
use crate::checked_size::byte_len;

/// Holds field elements in pinned host memory, which devices copy at the link's rate without staging. The memory is
/// cleared when dropped.
///
/// Access to the elements waits for queued copies. Copies from the elements take a shared reference, copies into them a
/// mutable one.
#[derive(Debug)]
pub struct HostVector<F> {
    buffer: PinnedBuffer,
    len: usize,
    elements: PhantomData<F>,
}

impl<F: Element> HostVector<F> {
    /// Creates a vector of `len` zeros in pinned memory of the stream's pool.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): `len` elements exceed the address space.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): the driver has no
    ///   pinned memory left, or failed.
    pub fn new(stream: &Stream, len: usize) -> Result<Self> {
        let mut buffer = stream.allocate_pinned(byte_len::<F>("HostVector::new", len)?)?;
        buffer.as_mut_slice().fill(0);
        Ok(Self { buffer, len, elements: PhantomData })
    }

    pub(crate) fn buffer(&self) -> &PinnedBuffer {
        &self.buffer
    }

    pub(crate) fn buffer_mut(&mut self) -> &mut PinnedBuffer {
        &mut self.buffer
    }
}

impl<F: Element> Deref for HostVector<F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        let bytes = self.buffer.as_slice();
        // SAFETY: pages hold `len` elements, aligned; zeros and the kernels' results are valid elements (`Element`).
        // `as_slice` has waited for copies into them, and another one takes a mutable reference.
        unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), self.len) }
    }
}

impl<F: Element> DerefMut for HostVector<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        let bytes = self.buffer.as_mut_slice();
        // SAFETY: as in `deref`.
        unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), self.len) }
    }
}
