//! Copies host memory with all cores and nontemporal stores. Data for a device then ends in memory, not in the caches
//! of the cores.
//!
//! One core cannot saturate the host link. A device that reads lines of a core's cache has to wait for that core,
//! longer if it sleeps. Nontemporal stores also spare the host the read of each line that they overwrite.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use rayon::prelude::*;
use rayon::{Scope, Yield};

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::{copy_nontemporal, zero_nontemporal};

use crate::rayon_waits::install;
use crate::{Error, Result};

/// Copies `from` to `to` through the caches, because Rust has no nontemporal stores for this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn copy_nontemporal(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

/// Sets `to` to zero through the caches, because Rust has no nontemporal stores for this processor.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn zero_nontemporal(to: &mut [MaybeUninit<u8>]) {
    to.fill(MaybeUninit::new(0));
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_setzero_si128, _mm_sfence, _mm_stream_si128};
    use std::mem::MaybeUninit;

    /// Holds a 64-byte cache line in 128-bit registers, the widest that every x86-64 processor has.
    #[repr(align(64))]
    struct CacheLine([__m128i; 4]);

    type LineBytes = [u8; size_of::<CacheLine>()];

    /// Copies `from` to `to`, with nontemporal stores for all whole cache lines. Other cores and devices see the
    /// whole copy once they see the caller's next store.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub(crate) fn copy_nontemporal(to: &mut [u8], from: &[u8]) {
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
    pub(crate) fn zero_nontemporal(to: &mut [MaybeUninit<u8>]) {
        // SAFETY: any bytes, even uninitialised ones, are a `MaybeUninit` line, and the other way round.
        let (head, lines, tail) = unsafe { to.align_to_mut::<MaybeUninit<CacheLine>>() };
        head.fill(MaybeUninit::new(0));
        tail.fill(MaybeUninit::new(0));
        for line in lines {
            let line = line.as_mut_ptr().cast::<__m128i>();
            // SAFETY: the line has as many bytes as are written, and is aligned.
            unsafe { (0..4).for_each(|part| _mm_stream_si128(line.add(part), _mm_setzero_si128())) };
        }
        store_fence();
    }

    /// Splits `bytes` into the bytes before its first whole cache line, the whole cache lines, and the bytes after
    /// them.
    fn split_aligned(bytes: &mut [u8]) -> (&mut [u8], &mut [CacheLine], &mut [u8]) {
        // SAFETY: any bytes are a valid line, and any line valid bytes.
        unsafe { bytes.align_to_mut() }
    }

    /// Stores `from` to the cache line `to` with nontemporal stores. The caller must call [`store_fence`] afterwards.
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

/// Bytes that each task of a parallel host copy takes, 256 KiB: enough to outweigh the cost of a task.
const COPY_GRAIN: usize = 256 << 10;
/// Maximum bytes that one core copies alone, 512 KiB: such a copy ends before other cores wake up.
const SERIAL_COPY_MAX: usize = 512 << 10;

/// Copies the second slice to the first, which has equal length.
pub(crate) type CopyFn = fn(&mut [u8], &[u8]);

/// Tracks copies of host memory that run as rayon tasks, and collects one result per copy.
#[derive(Debug)]
pub(crate) struct CopyTasks<T> {
    sender: Sender<T>,
    receiver: Receiver<T>,
}

impl<T: Send> CopyTasks<T> {
    pub(super) fn new() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver }
    }

    /// Spawns tasks in `scope` that copy `from` to `to` with the function `copy`. The task that finishes last calls
    /// `end` and sends its result. Copies of up to `SERIAL_COPY_MAX` bytes run on the calling thread.
    pub(super) fn spawn_copy<'s>(
        &self,
        scope: &Scope<'s>,
        (to, from, copy): (&'s mut [u8], &'s [u8], CopyFn),
        end: impl Fn() -> T + Send + Sync + 's,
    ) where
        T: 's,
    {
        let sender = self.sender.clone();
        // A dropped receiver needs no result.
        let end = move || drop(sender.send(end()));
        if to.len() <= SERIAL_COPY_MAX {
            copy(to, from);
            return end();
        }
        let last = Arc::new((AtomicUsize::new(to.len().div_ceil(COPY_GRAIN)), end));
        for (to, from) in to.chunks_mut(COPY_GRAIN).zip(from.chunks(COPY_GRAIN)) {
            let last = last.clone();
            scope.spawn(move |_| {
                copy(to, from);
                let (left, end) = &*last;
                if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                    end();
                }
            });
        }
    }

    /// Waits until a spawned copy has finished, and returns the result of its `end` function. Copies may finish in
    /// any order. A thread of rayon's pool runs other jobs meanwhile, possibly one of these tasks.
    pub(super) fn wait_next_result(&self) -> Result<T> {
        loop {
            match rayon::yield_now() {
                // `self` has a sender, so this waits for a result.
                None => return self.receiver.recv().map_err(|_| Error::internal("copy")),
                Some(Yield::Executed) => {}
                Some(Yield::Idle) => std::thread::yield_now(),
            }
            if let Ok(one) = self.receiver.try_recv() {
                return Ok(one);
            }
        }
    }

    /// Returns an iterator that waits for the results of all copies that [`Self::wait_next_result`] has not returned. No more
    /// copies can be spawned.
    pub(super) fn remaining_results(self) -> impl Iterator<Item = T> {
        drop(self.sender);
        self.receiver.into_iter()
    }
}

/// Copies `from` to `to`, of equal length, with all cores.
pub(crate) fn parallel_copy(to: &mut [u8], from: &[u8]) {
    debug_assert_eq!(to.len(), from.len());
    if to.len() <= SERIAL_COPY_MAX {
        return to.copy_from_slice(from);
    }
    let parts = to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks(COPY_GRAIN));
    install(|| parts.for_each(|(to, from)| to.copy_from_slice(from)));
}

/// Copies `from` to `to`, of equal length, with all cores, and clears `from` while it is in the cache.
pub(crate) fn par_move_and_zeroize(to: &mut [u8], from: &mut [u8]) {
    debug_assert_eq!(to.len(), from.len());
    let one = |(to, from): (&mut [u8], &mut [u8])| {
        to.copy_from_slice(from);
        from.fill(0);
    };
    if to.len() <= SERIAL_COPY_MAX {
        return one((to, from));
    }
    install(|| to.par_chunks_mut(COPY_GRAIN).zip(from.par_chunks_mut(COPY_GRAIN)).for_each(one));
}

/// Sets all bytes of `slices` to zero with all cores, by nontemporal stores. They need not be initialised.
pub(crate) fn par_zero_nontemporal(slices: Vec<&mut [MaybeUninit<u8>]>) {
    let bytes: usize = slices.iter().map(|bytes| bytes.len()).sum();
    if bytes <= SERIAL_COPY_MAX {
        slices.into_iter().for_each(zero_nontemporal);
    } else {
        let parts = slices.into_par_iter().flat_map(|bytes| bytes.par_chunks_mut(COPY_GRAIN));
        install(|| parts.for_each(zero_nontemporal));
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
        let cleared: *mut [u8] = &raw mut target[start..][..length];
        // SAFETY: only zeros are written to the bytes.
        zero_nontemporal(unsafe { &mut *(cleared as *mut [MaybeUninit<u8>]) });
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
