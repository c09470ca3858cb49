//! Stores for a device to read, which end in memory, not in the caches of the cores that make them.
//!
//! A device that reads lines of a core's cache has to wait for that core, longer once it sleeps. Such stores also spare
//! the host the read of each line that they overwrite.

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{clear_past_cache, copy_past_cache};

/// As `to.copy_from_slice(from)`, through the caches: Rust has no stores past them for this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn copy_past_cache(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

/// As `to.fill(0)`.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn clear_past_cache(to: &mut [u8]) {
    to.fill(0);
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    /// A line of the caches, in the widest registers that every processor of this kind has.
    #[repr(align(64))]
    struct Line([__m128i; 4]);

    type LineBytes = [u8; size_of::<Line>()];

    /// As `to.copy_from_slice(from)`, past the caches but for what is beside whole lines. On return other cores and
    /// devices see all of it once they see what the caller stores next.
    ///
    /// # Panics
    /// The lengths differ.
    pub fn copy_past_cache(to: &mut [u8], from: &[u8]) {
        let (head, lines, tail) = whole_lines(to);
        let (from_head, from) = from.split_at(head.len());
        let (from_lines, from_tail) = from.split_at(size_of_val(lines));
        head.copy_from_slice(from_head);
        tail.copy_from_slice(from_tail);
        for (to, from) in lines.iter_mut().zip(from_lines.as_chunks().0) {
            store(to, from);
        }
        fence();
    }

    /// As `to.fill(0)`, in the way of [`copy_past_cache`]: that need not move lines out of caches next time.
    pub fn clear_past_cache(to: &mut [u8]) {
        let (head, lines, tail) = whole_lines(to);
        head.fill(0);
        tail.fill(0);
        for line in lines {
            store(line, &[0; size_of::<Line>()]);
        }
        fence();
    }

    /// The lines that are all there, and the bytes before and after.
    fn whole_lines(bytes: &mut [u8]) -> (&mut [u8], &mut [Line], &mut [u8]) {
        // SAFETY: any bytes make a line, and a line any bytes.
        unsafe { bytes.align_to_mut() }
    }

    /// Stores a line past the caches; [`fence`] has to follow.
    fn store(to: &mut Line, from: &LineBytes) {
        let from: *const __m128i = from.as_ptr().cast();
        // SAFETY: as many bytes are read as there are, from anywhere, and as many are written, which are aligned.
        unsafe {
            let line = [0, 1, 2, 3].map(|part| _mm_loadu_si128(from.add(part)));
            for (to, part) in to.0.iter_mut().zip(line) {
                _mm_stream_si128(to, part);
            }
        }
    }

    /// Orders stores past the caches before all later ones.
    fn fence() {
        // SAFETY: every processor of this kind has it.
        unsafe { _mm_sfence() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: usize = 64;

    fn pattern(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index.wrapping_mul(2_654_435_761) >> 7) as u8 | 1).collect()
    }

    /// Copies from so many bytes into a line to so many into another, clears that, and looks at what is beside too.
    fn check(to: usize, from: usize, length: usize) {
        let source = pattern(LINE + from + length);
        let mut target = vec![1; LINE + to + length + LINE];
        let (start, first) = (target.as_ptr().align_offset(LINE) + to, source.as_ptr().align_offset(LINE) + from);
        let source = &source[first..][..length];
        copy_past_cache(&mut target[start..][..length], source);
        assert!(target[start..][..length] == *source, "{length} bytes from {from} to {to}");
        clear_past_cache(&mut target[start..][..length]);
        let cleared = |place: usize| (start..start + length).contains(&place);
        let exact = target.iter().enumerate().all(|(place, byte)| *byte == u8::from(!cleared(place)));
        assert!(exact, "beside {length} bytes at {to}");
    }

    #[test]
    fn any_place_and_length_is_exact() {
        for to in 0..LINE {
            for from in 0..LINE {
                (0..200).for_each(|length| check(to, from, length));
            }
        }
    }

    #[test]
    fn large_ones_are_exact() {
        for length in [4096, (256 << 10) + 1, (1 << 20) - 1, (4 << 20) + 7] {
            for (to, from) in [(0, 0), (0, 1), (1, 0), (63, 17)] {
                check(to, from, length);
            }
        }
    }
}
