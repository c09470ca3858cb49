//! A device's primary context, current only while the driver is called.

use std::ffi::CStr;
use std::fmt::Write;
use std::marker::PhantomData;

use cust::context::Context;
use cust::device::Device;
use cust::error::{CudaError, CudaResult};
use cust::sys as cu;

/// Converts the driver's status `code` to a result: success is `Ok`, any other status is the error.
pub(super) fn check_status(code: cu::CUresult) -> Result<(), cu::CUresult> {
    if code == cu::CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
}

/// Returns the driver's description of the status `code`, or the status's name if there is none.
pub(super) fn error_text(code: cu::CUresult) -> String {
    let mut text = std::ptr::null();
    // SAFETY: the pointer is to a live variable; the driver's texts are static.
    unsafe {
        match check_status(cu::cuGetErrorString(code, &raw mut text)) {
            Ok(()) if !text.is_null() => CStr::from_ptr(text).to_string_lossy().into_owned(),
            // The driver's own name, such as CUDA_ERROR_NO_DEVICE.
            _ => format!("{code:?}"),
        }
    }
}

/// Returns the driver's description of `error`. Returns its number if there is no description, as without a driver.
pub(super) fn cust_error_text(error: CudaError) -> String {
    let mut text = String::new();
    // `to_string` would panic: cust's `Display` fails without a description.
    match write!(text, "{error}") {
        Ok(()) => text.trim_matches('"').to_owned(),
        Err(_) => format!("CUDA error {}", error as u32),
    }
}

/// Holds a reference to a device's primary context, which all users of the device in this process share.
#[derive(Debug)]
pub(super) struct PrimaryContext(Context);

impl PrimaryContext {
    pub(super) fn new(device: Device) -> CudaResult<Self> {
        let previous = current_context();
        // Cust makes the new context current; restore the previous one.
        let context = Context::new(device)?;
        // SAFETY: the handle was current, so it is live, or null.
        unsafe { cu::cuCtxSetCurrent(previous) };
        Ok(Self(context))
    }

    pub(super) fn as_raw(&self) -> cu::CUcontext {
        self.0.as_raw()
    }

    /// Makes the context current on this thread. The returned guard restores another user's context when it is
    /// dropped.
    pub(super) fn enter(&self) -> Result<CurrentContextGuard<'_>, cu::CUresult> {
        let previous = current_context();
        let mine = self.as_raw();
        // Only setting is expensive, so a thread that only we use keeps our context.
        if previous != mine {
            // SAFETY: the context is live as long as `self`.
            check_status(unsafe { cu::cuCtxSetCurrent(mine) })?;
        }
        Ok(CurrentContextGuard {
            previous: (!previous.is_null() && previous != mine).then_some(previous),
            context: PhantomData,
        })
    }
}

/// Returns the context that is current on this thread, or null.
fn current_context() -> cu::CUcontext {
    let mut context = std::ptr::null_mut();
    // SAFETY: the pointer is to a live variable, which stays null on failure.
    let _ = unsafe { cu::cuCtxGetCurrent(&raw mut context) };
    context
}

/// Restores, when dropped, the context that another user had made current on this thread.
pub(super) struct CurrentContextGuard<'a> {
    previous: Option<cu::CUcontext>,
    context: PhantomData<&'a PrimaryContext>,
}

impl Drop for CurrentContextGuard<'_> {
    fn drop(&mut self) {
        if let Some(previous) = self.previous {
            // SAFETY: it was current before, and its owner cannot have destroyed it on this thread since.
            unsafe { cu::cuCtxSetCurrent(previous) };
        }
    }
}
