//! Wraps OpenCL's calls by raw handle.

use std::ffi::c_void;
use std::fmt;
use std::mem::{ManuallyDrop, size_of};
use std::ptr;

use opencl3::command_queue as queue;
use opencl3::error_codes::ClError;
use opencl3::event;
use opencl3::types::{cl_command_queue, cl_device_id, cl_event, cl_int, cl_mem};

/// Holds the value of an OpenCL call, or its error code.
pub(super) type ClResult<T> = std::result::Result<T, cl_int>;
/// Points to any OpenCL object.
pub(super) type ClObject = *mut c_void;

/// Holds the id of a device of an OpenCL platform.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceId(pub(super) cl_device_id);

// SAFETY: the id of a root device stays valid for the whole process and OpenCL takes it from any thread.
unsafe impl Send for DeviceId {}
// SAFETY: as above; the id is never changed.
unsafe impl Sync for DeviceId {}

/// Owns a reference to an OpenCL object, which is released when this is dropped.
pub(super) struct ClOwned {
    object: ClObject,
    release: unsafe fn(ClObject) -> ClResult<()>,
}

// SAFETY: OpenCL objects may be used from any thread.
unsafe impl Send for ClOwned {}
// SAFETY: OpenCL's calls are thread-safe but for clSetKernelArg, and kernels live in a mutex.
unsafe impl Sync for ClOwned {}

impl ClOwned {
    /// Takes over the caller's reference to `object`. The function `release` gives the reference back.
    ///
    /// # Safety
    /// The object is live, the reference is the caller's, and `release` is the call for its kind.
    pub(super) unsafe fn new(object: ClObject, release: unsafe fn(ClObject) -> ClResult<()>) -> Self {
        Self { object, release }
    }

    pub(super) fn as_raw(&self) -> ClObject {
        self.object
    }
}

impl fmt::Debug for ClOwned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.object)
    }
}

impl Drop for ClOwned {
    fn drop(&mut self) {
        // SAFETY: the reference is ours and given back only here.
        if let Err(code) = unsafe { (self.release)(self.object) } {
            log::warn!("releasing an OpenCL object: {}", error_text(code));
        }
    }
}

/// Returns OpenCL's name and number of the error `code`.
pub(super) fn error_text(code: cl_int) -> String {
    format!("{} ({code})", ClError(code))
}

/// Converts the result of queueing a command. Releases the event that OpenCL returned for the command.
pub(super) fn release_command_event(event: ClResult<cl_event>) -> ClResult<()> {
    // SAFETY: the event was just made for us and is not used again.
    unsafe { event::release_event(event?) }
}

/// Decodes a number that an OpenCL information call returned: 4 or 8 bytes in the host's byte order. Returns 0 for
/// any other length.
pub(super) fn decode_number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

/// Decodes a text that an OpenCL information call returned, without terminating zeros and surrounding white space.
pub(super) fn decode_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}

/// Returns the handle of `object` without releasing its reference. The caller must release it.
pub(super) fn into_raw(object: ClOwned) -> *mut c_void {
    ManuallyDrop::new(object).as_raw()
}

/// Queues a command on `stream` that sets `bytes` of `buffer`, from byte `offset` on, to zero.
///
/// # Safety
/// The queue and the buffer are live and the range, in multiples of 4, is inside the buffer.
pub(super) unsafe fn enqueue_zero_fill(
    stream: cl_command_queue,
    buffer: cl_mem,
    offset: usize,
    bytes: usize,
) -> ClResult<()> {
    let pattern = 0_u32;
    // SAFETY: the caller's promise; the pattern is copied by the call.
    release_command_event(unsafe {
        queue::enqueue_fill_buffer(
            stream,
            buffer,
            (&raw const pattern).cast(),
            size_of::<u32>(),
            offset,
            bytes,
            0,
            ptr::null(),
        )
    })
}
