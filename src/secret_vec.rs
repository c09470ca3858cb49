//! Holds secrets in ordinary host memory that is cleared when freed.
#![warn(clippy::arithmetic_side_effects)]

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use rayon::prelude::*;

use crate::backend::par_zero_nontemporal;
use crate::field::Element;

/// Holds values that may be secret. Their memory is cleared when dropped.
pub struct SecretVec<T: Copy>(pub Vec<T>);

/// Borrows values that may be secret, or holds a copy, whose memory is cleared when dropped.
pub(crate) enum SecretCow<'a, T: Copy> {
    /// Values of the caller's.
    Borrowed(&'a [T]),
    /// A copy.
    Owned(SecretVec<T>),
}

/// Maximum size in bytes, 256 KiB, of memory that is cleared by ordinary stores, which keep it in the cache. The next
/// allocation may get this memory.
const IN_CACHE_CLEAR_MAX: usize = 1 << 18;

/// Elements that a core writes at a time, 4096, so that they stay in its cache.
const PIECE: usize = 1 << 12;

/// Clears the memory of `values`, large memory on all cores. The vector is empty afterwards, and keeps its memory.
pub fn zeroize<T: Copy>(values: &mut Vec<T>) {
    let (count, bytes) = (values.len(), size_of_val(&values[..]));
    // Zeros need not be values, so the vector holds none from here on.
    values.clear();
    let start = values.as_mut_ptr();
    if bytes <= IN_CACHE_CLEAR_MAX {
        // SAFETY: the memory had `count` values, and the vector is exclusively borrowed.
        unsafe { start.write_bytes(0, count) };
    } else {
        // SAFETY: as above. Bytes of any values are `MaybeUninit`.
        par_zero_nontemporal(vec![unsafe { std::slice::from_raw_parts_mut(start.cast::<MaybeUninit<u8>>(), bytes) }]);
    }
    // Keeps the compiler from dropping these stores, which nothing reads.
    std::hint::black_box(start);
}

impl<T: Copy> Default for SecretVec<T> {
    /// Returns no values.
    fn default() -> Self {
        Self(Vec::new())
    }
}

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
    #[cfg(feature = "mpi")]
    pub(crate) fn fill_zeros(&mut self) {
        let length = self.0.len();
        zeroize(&mut self.0);
        // SAFETY: the memory of `length` elements is zero, and zeros are elements.
        unsafe { self.0.set_len(length) };
    }
}

impl<T: Copy> Deref for SecretVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Copy> DerefMut for SecretVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Copy> Drop for SecretVec<T> {
    fn drop(&mut self) {
        zeroize(&mut self.0);
    }
}

impl<T: Copy> fmt::Debug for SecretVec<T> {
    /// Writes the number of values only, because they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secret values", self.0.len())
    }
}

impl<T: Copy> Deref for SecretCow<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(values) => values,
            Self::Owned(values) => values,
        }
    }
}

impl<T: Copy> SecretCow<'_, T> {
    /// Returns the values as a vector that may be changed. Borrowed values are copied.
    pub(crate) fn into_owned(self) -> SecretVec<T> {
        match self {
            Self::Borrowed(values) => SecretVec(values.to_vec()),
            Self::Owned(values) => values,
        }
    }
}

/// Bytes of a huge page, 2 MiB.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Requests huge pages for the part of `memory` that consists of whole ones. The system may ignore this.
#[allow(clippy::arithmetic_side_effects, reason = "addresses of memory that exists")]
fn advise_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that all bytes of `count` numbers are cleared, and that the vector keeps its memory.
    fn check_zeroize(count: usize) {
        let mut values = vec![u64::MAX; count];
        let capacity = values.capacity();
        zeroize(&mut values);
        assert_eq!((values.len(), values.capacity()), (0, capacity));
        // SAFETY: the memory was initialised, and all bytes are a number.
        unsafe { values.set_len(count) };
        assert!(values.iter().all(|value| *value == 0), "{count} numbers");
    }

    #[test]
    fn all_memory_is_cleared() {
        let limit = IN_CACHE_CLEAR_MAX / size_of::<u64>();
        [0, 1, limit, limit + 1, 9 * limit + 5].into_iter().for_each(check_zeroize);
    }

    #[test]
    fn values_are_not_printed() {
        assert_eq!(format!("{:?}", SecretVec(vec![1_u8; 3])), "3 secret values");
    }
}
