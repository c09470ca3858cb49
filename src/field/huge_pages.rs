//! Requests huge pages for new memory, which the system then gives in fewer steps.

use std::mem::MaybeUninit;

/// Bytes of a huge page, 2 MiB.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Requests huge pages for the part of `memory` that consists of whole ones. The system may ignore this.
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
