//! Queues copies to the device so that the driver keeps none of the data.

use std::ffi::c_void;
use std::ptr;

use cust::sys as cu;

use super::context::check_status;
use crate::backend::TwoRows;

/// Queues on `stream` a copy of `bytes` from pinned host memory at `from` to device address `to`. A small copy is a 2D
/// copy of two rows. Of a small 1D copy the driver would keep the bytes in its own memory. An error holds the name and
/// status of the driver function that failed.
///
/// # Safety
/// Both ranges are valid, the stream is live, and `from` keeps its contents until the copy has run.
pub(super) unsafe fn enqueue_upload(
    to: cu::CUdeviceptr,
    from: *const u8,
    bytes: usize,
    stream: cu::CUstream,
) -> Result<(), (&'static str, cu::CUresult)> {
    let rows = TwoRows::split(bytes);
    if rows.width > 0 {
        let copy = two_row_copy(to, from, rows.width);
        // SAFETY: passed on from the caller; two rows are within the range.
        let code = unsafe { cu::cuMemcpy2DAsync_v2(&raw const copy, stream) };
        check_status(code).map_err(|code| ("cuMemcpy2DAsync", code))?;
    }
    if rows.rest == 0 {
        return Ok(());
    }
    let start = bytes - rows.rest;
    // SAFETY: passed on from the caller; the rest is within the range.
    let code = unsafe { cu::cuMemcpyHtoDAsync_v2(to + start as u64, from.add(start).cast(), rows.rest, stream) };
    check_status(code).map_err(|code| ("cuMemcpyHtoDAsync", code))
}

fn two_row_copy(to: cu::CUdeviceptr, from: *const u8, width: usize) -> cu::CUDA_MEMCPY2D {
    cu::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: cu::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: from.cast::<c_void>(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        srcPitch: width,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: cu::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: to,
        dstArray: ptr::null_mut(),
        dstPitch: width,
        WidthInBytes: width,
        Height: 2,
    }
}
