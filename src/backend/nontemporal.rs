//! Nontemporal stores: data for a device ends in memory, not in the caches of the cores that store it.
//!
//! A device that reads lines of a core's cache has to wait for that core, longer if it sleeps. Nontemporal stores also
//! spare the host the read of each line that they overwrite.

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{copy_nontemporal, zero_nontemporal};

/// Copies `from` to `to` through the caches, because Rust has no nontemporal stores for this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy_nontemporal(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

/// Sets `to` to zero through the caches, because Rust has no nontemporal stores for this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn zero_nontemporal(to: &mut [u8]) {
    to.fill(0);
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    /// Holds a 64-byte cache line in 128-bit registers, the widest that every x86-64 processor has.
    #[repr(align(64))]
    struct CacheLine([__m128i; 4]);

    type LineBytes = [u8; size_of::<CacheLine>()];

    /// Copies `from` to `to`, with nontemporal stores for all whole cache lines. Other cores and devices see the
    /// whole copy once they see the caller's next store.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn copy_nontemporal(to: &mut [u8], from: &[u8]) {
        let (head, lines, tail) = split_aligned(to);
        let (from_head, from) = from.split_at(head.len());
        let (from_lines, from_tail) = from.split_at(size_of_val(lines));
        head.copy_from_slice(from_head);
        tail.copy_from_slice(from_tail);
        for (to, from) in lines.iter_mut().zip(from_lines.as_chunks().0) {
            store_line_nontemporal(to, from);
        }
        store_fence();
    }

    /// Sets `to` to zero, with nontemporal stores for all whole cache lines. The next [`copy_nontemporal`] need not
    /// move these lines out of caches.
    pub fn zero_nontemporal(to: &mut [u8]) {
        let (head, lines, tail) = split_aligned(to);
        head.fill(0);
        tail.fill(0);
        for line in lines {
            store_line_nontemporal(line, &[0; size_of::<CacheLine>()]);
        }
        store_fence();
    }

    /// Splits `bytes` into the bytes before its first whole cache line, the whole cache lines, and the bytes after
    /// them.
    fn split_aligned(bytes: &mut [u8]) -> (&mut [u8], &mut [CacheLine], &mut [u8]) {
        // SAFETY: any bytes are a valid line, and any line valid bytes.
        unsafe { bytes.align_to_mut() }
    }

    /// Stores `from` to the cache line `to` with nontemporal stores. The caller must call [`fence`] afterwards.
    fn store_line_nontemporal(to: &mut CacheLine, from: &LineBytes) {
        let from: *const __m128i = from.as_ptr().cast();
        // SAFETY: `from` has as many bytes as are read, at any alignment; `to` has as many as are written, and is
        // aligned.
        unsafe {
            let line = [0, 1, 2, 3].map(|part| _mm_loadu_si128(from.add(part)));
            for (to, part) in to.0.iter_mut().zip(line) {
                _mm_stream_si128(to, part);
            }
        }
    }

    /// Orders earlier nontemporal stores before all later stores.
    fn store_fence() {
        // SAFETY: every x86-64 processor has this instruction.
        unsafe { _mm_sfence() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: usize = 64;

    fn pattern_bytes(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index.wrapping_mul(2_654_435_761) >> 7) as u8 | 1).collect()
    }

    /// Copies `length` bytes from offset `from` in a cache line to offset `to` in another, then clears the target.
    /// Checks the copy, and that the neighbouring bytes are unchanged.
    fn check_copy_and_zero(to: usize, from: usize, length: usize) {
        let source = pattern_bytes(LINE + from + length);
        let mut target = vec![1; LINE + to + length + LINE];
        let (start, first) = (target.as_ptr().align_offset(LINE) + to, source.as_ptr().align_offset(LINE) + from);
        let source = &source[first..][..length];
        copy_nontemporal(&mut target[start..][..length], source);
        assert!(target[start..][..length] == *source, "{length} bytes from {from} to {to}");
        zero_nontemporal(&mut target[start..][..length]);
        let cleared = |place: usize| (start..start + length).contains(&place);
        let exact = target.iter().enumerate().all(|(place, byte)| *byte == u8::from(!cleared(place)));
        assert!(exact, "beside {length} bytes at {to}");
    }

    #[test]
    fn any_place_and_length_is_exact() {
        for to in 0..LINE {
            for from in 0..LINE {
                (0..200).for_each(|length| check_copy_and_zero(to, from, length));
            }
        }
    }

    #[test]
    fn large_ones_are_exact() {
        for length in [4096, (256 << 10) + 1, (1 << 20) - 1, (4 << 20) + 7] {
            for (to, from) in [(0, 0), (0, 1), (1, 0), (63, 17)] {
                check_copy_and_zero(to, from, length);
            }
        }
    }
}
