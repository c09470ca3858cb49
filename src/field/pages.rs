//! Large pages for new memory, which the system then gives in fewer steps.

use std::mem::MaybeUninit;

/// Bytes of a large page.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Asks for large pages, as far as the memory has whole ones. What the system makes of it is its own business.
pub(super) fn in_large_pages<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    {
        let (start, end) = (memory.as_ptr().addr(), memory.as_ptr_range().end.addr());
        let (first, last) = (start.next_multiple_of(LARGE), end / LARGE * LARGE);
        if first < last {
            let pages = memory.as_mut_ptr().wrapping_byte_add(first - start);
            // SAFETY: the pages are all of memory that is borrowed here, and the advice changes nothing that is in it.
            unsafe { libc::madvise(pages.cast(), last - first, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
