//! Defines the two functions of the CUDA runtime by which Curio's engine allocates page-locked memory.

use std::ffi::{c_int, c_uint, c_void};
use std::panic::catch_unwind;

use proofwarp::Accelerator;
use proofwarp::backend::PinnedBuffer;
use proofwarp::secret_vec::SecretVec;

use crate::handles::Table;

/// `cudaSuccess`.
const SUCCESS: c_int = 0;
/// `cudaErrorInvalidValue`.
const INVALID_VALUE: c_int = 1;
/// `cudaErrorMemoryAllocation`.
const OUT_OF_MEMORY: c_int = 2;

/// Bytes of a page, 4096, to which pageable memory is aligned.
const PAGE: usize = 4096;

/// Holds memory of a caller. It is cleared before it is freed.
enum HostMemory {
    Pinned(PinnedBuffer),
    /// Whole pages, and one more for the alignment.
    Pageable(SecretVec<u64>),
}

static MEMORY: Table<HostMemory> = Table::new();

impl HostMemory {
    /// Allocates `bytes` of page-locked memory of the first device. Without a device, or if it can lock no more pages, the
    /// memory is pageable. Returns `None` if there is too little memory.
    fn allocate(bytes: usize) -> Option<Self> {
        let accelerator = Accelerator::global().ok()?;
        if let Some(device) = accelerator.devices().first() {
            match device.stream().and_then(|stream| stream.allocate_pinned(bytes)) {
                Ok(buffer) => return Some(Self::Pinned(buffer)),
                Err(error) => log::warn!("supraseal-c2: {bytes} bytes are not page-locked: {error}"),
            }
        }
        let words = bytes.checked_add(PAGE)?.div_ceil(size_of::<u64>());
        let mut memory = Vec::new();
        memory.try_reserve_exact(words).ok()?;
        memory.resize(words, 0);
        Some(Self::Pageable(SecretVec(memory)))
    }

    /// Returns the address of the memory.
    fn address(&mut self) -> *mut c_void {
        match self {
            Self::Pinned(buffer) => buffer.as_mut_ptr().cast(),
            Self::Pageable(words) => {
                let start = words.0.as_mut_ptr().cast::<u8>();
                start.wrapping_add(start.align_offset(PAGE)).cast()
            }
        }
    }
}

/// Allocates `size` bytes of memory for the caller, page-locked if there is a device, and writes its address to `address`.
/// All flags mean memory for any device, as `cudaHostAllocPortable` does.
///
/// # Safety
/// `address` is valid for a write, or null.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the CUDA runtime's name")]
unsafe extern "C" fn cudaHostAlloc(address: *mut *mut c_void, size: usize, _flags: c_uint) -> c_int {
    if address.is_null() {
        return INVALID_VALUE;
    }
    let allocated = catch_unwind(|| HostMemory::allocate(size)).ok().flatten();
    let (start, code) = match allocated {
        Some(mut memory) => {
            let start = memory.address();
            MEMORY.insert(start, memory);
            (start, SUCCESS)
        }
        None => (std::ptr::null_mut(), OUT_OF_MEMORY),
    };
    // SAFETY: it is not null, and the caller promises that it is valid for a write.
    unsafe { address.write(start) };
    code
}

/// Clears and frees the memory at `address`, which [`cudaHostAlloc`] allocated. Null frees nothing.
///
/// # Safety
/// Nobody uses the memory any more.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the CUDA runtime's name")]
unsafe extern "C" fn cudaFreeHost(address: *mut c_void) -> c_int {
    let freed = || address.is_null() || MEMORY.take(address).is_some();
    match catch_unwind(freed) {
        Ok(true) => SUCCESS,
        _ => INVALID_VALUE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_the_callers_until_it_is_freed() {
        for bytes in [0, 1, PAGE, 3 * PAGE + 5] {
            let mut address = std::ptr::null_mut();
            // SAFETY: the address is valid for a write.
            assert_eq!(unsafe { cudaHostAlloc(&raw mut address, bytes, 1) }, SUCCESS);
            assert!(!address.is_null() && address.addr().is_multiple_of(64), "{address:p}");
            // SAFETY: the memory has `bytes` bytes, and nobody else has it.
            let memory = unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), bytes) };
            memory.fill(7);
            // SAFETY: the slice is not used any more.
            assert_eq!([(); 2].map(|()| unsafe { cudaFreeHost(address) }), [SUCCESS, INVALID_VALUE]);
        }
        // SAFETY: null is allowed in both.
        assert_eq!(
            unsafe { [cudaFreeHost(std::ptr::null_mut()), cudaHostAlloc(std::ptr::null_mut(), 1, 1)] },
            [SUCCESS, INVALID_VALUE]
        );
    }

    #[test]
    fn too_much_memory_is_an_error() {
        let mut address = std::ptr::dangling_mut();
        // SAFETY: the address is valid for a write.
        let code = unsafe { cudaHostAlloc(&raw mut address, usize::MAX / 2, 0) };
        assert_eq!((code, address), (OUT_OF_MEMORY, std::ptr::null_mut()));
    }
}
