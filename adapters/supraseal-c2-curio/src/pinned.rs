//! Defines the two functions of the CUDA runtime by which Curio's engine allocates page-locked memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_int, c_uint, c_void};
use std::hint::black_box;
use std::panic::catch_unwind;
use std::ptr::NonNull;

use crate::handles::Table;

/// `cudaSuccess`.
const SUCCESS: c_int = 0;
/// `cudaErrorInvalidValue`.
const INVALID_VALUE: c_int = 1;
/// `cudaErrorMemoryAllocation`.
const OUT_OF_MEMORY: c_int = 2;

/// Aligns the memory to a page, 4096 bytes.
const PAGE: usize = 4096;

/// Holds memory of a caller. It is cleared, then freed, when this is dropped.
struct HostMemory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: only the drop writes to the memory here, and the caller no longer uses it then.
unsafe impl Send for HostMemory {}

static MEMORY: Table<HostMemory> = Table::new();

impl HostMemory {
    /// Allocates `bytes` of memory, which is zero. Returns `None` if there is too little memory.
    fn allocate(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1), PAGE).ok()?;
        // SAFETY: the layout has at least one byte.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { start, layout })
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: the memory has the layout's size and is exclusively ours. The write is kept, since `black_box` may
        // read it.
        unsafe {
            self.start.write_bytes(0, self.layout.size());
            black_box(self.start);
            dealloc(self.start.as_ptr(), self.layout);
        }
    }
}

/// Allocates `size` bytes of memory for the caller, and writes their address to `address`. The memory is aligned to a page
/// and not locked: proofwarp copies it through page-locked memory of its own.
///
/// # Safety
/// `address` is valid for a write, or null.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the CUDA runtime's name")]
unsafe extern "C" fn cudaHostAlloc(address: *mut *mut c_void, size: usize, _flags: c_uint) -> c_int {
    if address.is_null() {
        return INVALID_VALUE;
    }
    let allocate = || {
        let memory = HostMemory::allocate(size)?;
        let start = memory.start.as_ptr().cast::<c_void>();
        MEMORY.insert(start, memory);
        Some(start)
    };
    let start = catch_unwind(allocate).ok().flatten();
    // SAFETY: it is not null, and the caller promises that it is valid for a write.
    unsafe { address.write(start.unwrap_or(std::ptr::null_mut())) };
    if start.is_some() { SUCCESS } else { OUT_OF_MEMORY }
}

/// Clears and frees the memory at `address`, which [`cudaHostAlloc`] allocated. Null frees nothing.
///
/// # Safety
/// The caller no longer uses the memory.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the CUDA runtime's name")]
unsafe extern "C" fn cudaFreeHost(address: *mut c_void) -> c_int {
    let free = || address.is_null() || MEMORY.take(address).is_some();
    if catch_unwind(free).unwrap_or(false) { SUCCESS } else { INVALID_VALUE }
}
