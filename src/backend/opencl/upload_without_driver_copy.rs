//! Queues copies to the device so that the driver keeps none of the data.

use std::ptr;

use opencl3::command_queue as queue;
use opencl3::types::{CL_FALSE, cl_command_queue, cl_mem};

use super::owned_handles::{ClResult, release_command_event};
use crate::backend::TwoRows;

/// Queues on `stream` a copy of `bytes` from host memory at `from` to the buffer `to`, from byte `offset` on. A
/// small copy is a rectangle of two rows, because the driver would keep the bytes of a small plain copy.
///
/// # Safety
/// The handles are live, the ranges are valid, and `from` keeps its contents until the copy has run.
pub(super) unsafe fn enqueue_upload(
    stream: cl_command_queue,
    to: cl_mem,
    offset: usize,
    from: *const u8,
    bytes: usize,
) -> ClResult<()> {
    let TwoRows { width, rest } = TwoRows::split(bytes);
    if width > 0 {
        let (origin, start, region) = ([offset, 0, 0], [0; 3], [width, 2, 1]);
        // SAFETY: passed on from the caller; two rows are within the range.
        let event = unsafe {
            queue::enqueue_write_buffer_rect(
                stream,
                to,
                CL_FALSE,
                origin.as_ptr(),
                start.as_ptr(),
                region.as_ptr(),
                width,
                0,
                width,
                0,
                from.cast(),
                0,
                ptr::null(),
            )
        };
        release_command_event(event)?;
    }
    if rest == 0 {
        return Ok(());
    }
    let start = bytes - rest;
    // SAFETY: passed on from the caller; the rest is within the range.
    release_command_event(unsafe {
        let from = from.add(start).cast();
        queue::enqueue_write_buffer(stream, to, CL_FALSE, offset + start, rest, from, 0, ptr::null())
    })
}
