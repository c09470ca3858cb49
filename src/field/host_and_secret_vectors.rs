//! Holds field elements in host memory that is zeroed when freed, in huge pages if the system gives them.
#![warn(clippy::arithmetic_side_effects)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use rayon::prelude::*;

use super::{Element, as_bytes_mut};
use crate::Result;
use crate::backend::{PinnedBuffer, Stream, par_zero_nontemporal};
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

/// Holds field elements that may be secret in ordinary host memory. The memory is cleared when dropped.
pub(crate) struct SecretVec<F: Element>(pub Vec<F>);

/// Maximum size in bytes, 256 KiB, of memory that is cleared by ordinary stores, which keep it in the cache. The next
/// allocation may get this memory.
const IN_CACHE_CLEAR_MAX: usize = 1 << 18;

/// Elements that a core writes at a time, 4096, so that they stay in its cache.
const PIECE: usize = 1 << 12;

impl<F: Element> SecretVec<F> {
    /// Returns `length` zeros, which all cores write. Gigabytes of new memory need all cores even for zeros.
    #[cfg(feature = "mpi")]
    pub(crate) fn zeros(length: usize) -> Self {
        Self::par_from_fn(length, |_, _| ())
    }

    /// Creates `length` elements on all cores, in pieces. `write(first, piece)` fills `piece`, which holds zeros.
    /// `first` is the index of its first element.
    pub(crate) fn par_from_fn(length: usize, write: impl Fn(usize, &mut [F]) + Sync) -> Self {
        let mut values = Vec::with_capacity(length);
        advise_huge_pages(values.spare_capacity_mut());
        let pieces = values.spare_capacity_mut()[..length].par_chunks_mut(PIECE).enumerate();
        pieces.for_each(|(number, piece)| {
            piece.fill(MaybeUninit::new(F::ZERO));
            // SAFETY: all of the piece was written just now.
            write(number.saturating_mul(PIECE), unsafe {
                std::slice::from_raw_parts_mut(piece.as_mut_ptr().cast(), piece.len())
            });
        });
        // SAFETY: `length` elements were written just now.
        unsafe { values.set_len(length) };
        Self(values)
    }

    /// Overwrites all elements with zeros, and keeps the length.
    pub(crate) fn zeroize(&mut self) {
        if size_of_val(&self.0[..]) <= IN_CACHE_CLEAR_MAX {
            self.0.fill(F::ZERO);
        } else {
            // SAFETY: zeros are elements.
            par_zero_nontemporal(vec![unsafe { as_bytes_mut(&mut self.0) }]);
        }
        // Keeps the compiler from dropping these stores, which nothing reads.
        std::hint::black_box(&self.0);
    }
}

impl<F: Element> Deref for SecretVec<F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        &self.0
    }
}

impl<F: Element> DerefMut for SecretVec<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.0
    }
}

impl<F: Element> Drop for SecretVec<F> {
    fn drop(&mut self) {
        self.zeroize();
    }
}

/// Holds secret bytes in ordinary host memory. The memory is cleared when dropped.
pub(crate) struct SecretBytes(pub Vec<u8>);

impl Drop for SecretBytes {
    fn drop(&mut self) {
        par_zero_nontemporal(vec![&mut self.0[..]]);
        // Keeps the compiler from dropping these stores, which nothing reads.
        std::hint::black_box(&self.0);
    }
}

/// Bytes of a huge page, 2 MiB.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Requests huge pages for the part of `memory` that consists of whole ones. The system may ignore this.
#[allow(clippy::arithmetic_side_effects, reason = "addresses of memory that exists")]
pub(super) fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    {
        let (start, end) = (memory.as_ptr().addr(), memory.as_ptr_range().end.addr());
        let (first, last) = (start.next_multiple_of(LARGE), end / LARGE * LARGE);
        if first < last {
            let pages = memory.as_mut_ptr().wrapping_byte_add(first - start);
            // SAFETY: all of the pages are memory that is borrowed here, and the advice does not change their contents.
            unsafe { libc::madvise(pages.cast(), last - first, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
