//! Reports failures of a forced backend, so that callers cannot miss them.
//!
//! bellperson takes every kernel error for a reason to compute on the CPU. If `PROOFWARP_BACKEND` forces a device
//! backend, its failures are therefore remembered. The CPU path then returns that error, or panics if it cannot return
//! one. Each thread remembers only its last kernel call. Aborted calls are not remembered, since callers repeat them,
//! and neither are types that no backend knows, unless a feature of this crate is off that would add them.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::BackendKind;
use proofwarp::settings::Settings;

use crate::EcError;

/// Stores the error text of a thread's last kernel call, or `None` if that call did not fail.
type Failure = Arc<Mutex<Option<String>>>;

thread_local! {
    static FAILURE: Failure = Arc::default();
}

/// Returns the device backend that `PROOFWARP_BACKEND` forces. Returns `None` if it forces none or the CPU, or if the
/// settings are malformed.
fn forced_device_backend() -> Option<BackendKind> {
    Settings::get().ok().and_then(|settings| settings.backend).filter(|backend| *backend != BackendKind::Cpu)
}

/// Stores the failure of one kernel call for the thread that created the guard, if a device backend is forced.
#[cfg(any(feature = "cuda", feature = "opencl"))]
#[derive(Clone)]
pub(crate) struct FailureGuard(Option<(BackendKind, Failure)>);

#[cfg(any(feature = "cuda", feature = "opencl"))]
impl FailureGuard {
    /// Creates the guard of a kernel call, and clears the stored failure of this thread's last call.
    pub(crate) fn start() -> Self {
        let watch = forced_device_backend().map(|backend| (backend, FAILURE.with(Arc::clone)));
        if let Some((_, failure)) = &watch {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        Self(watch)
    }

    /// Stores the error of `result` for the thread that created the guard, unless the call was aborted. Returns
    /// `result`. Any thread may call this.
    pub(crate) fn end<T>(&self, result: Result<T, EcError>) -> Result<T, EcError> {
        if let (Some((backend, failure)), Err(error)) = (&self.0, &result)
            && !matches!(error, EcError::Aborted)
        {
            let reason = format!("PROOFWARP_BACKEND={backend} is forced, and {backend} failed: {error}");
            log::error!("{reason}");
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        }
        result
    }
}

/// Returns an error if a device backend is forced and this build has no kernels. Otherwise the CPU would compute
/// a prover's MSMs without an error.
pub(crate) fn missing_kernels() -> Option<EcError> {
    let backend = forced_device_backend().filter(|_| !cfg!(any(feature = "cuda", feature = "opencl")))?;
    let reason =
        "this build of ec-gpu-gen has neither of its features cuda and opencl, which those of bellperson turn on";
    Some(std::io::Error::other(format!("PROOFWARP_BACKEND={backend} is forced: {reason}")).into())
}

/// Returns the error of this thread's last kernel call on a forced device backend. Returns `None` if that call did not
/// fail or was aborted, or if no device backend is forced.
pub(crate) fn last_failure() -> Option<EcError> {
    forced_device_backend()?;
    let reason = FAILURE.with(|failure| failure.lock().unwrap_or_else(PoisonError::into_inner).clone())?;
    Some(std::io::Error::other(reason).into())
}

/// Panics if this thread's last kernel call failed on a forced device backend. It serves functions that cannot return
/// an error.
///
/// # Panics
/// Panics if [`last_failure`] returns an error: otherwise a failure of a forced backend would be missed.
pub(crate) fn panic_on_failure() {
    if let Some(error) = last_failure() {
        panic!("{error}");
    }
}
