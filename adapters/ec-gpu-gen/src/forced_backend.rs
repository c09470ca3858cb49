//! Reports failures of a forced backend, so that callers cannot miss them.
//!
//! bellperson takes every kernel error for a reason to compute on the CPU. If `PROOFWARP_BACKEND` forces a device
//! backend, its failures are therefore remembered. The CPU path then returns that error, or panics if it cannot return
//! one. Each thread remembers only its last kernel call. Aborted calls are not remembered, since callers repeat them,
//! and neither are types that no backend knows.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::BackendKind;
use proofwarp::settings::Settings;

use crate::EcError;

/// Stores why a kernel call failed, if it did.
type Failure = Arc<Mutex<Option<String>>>;

thread_local! {
    static FAILURE: Failure = Arc::default();
}

/// Returns the device backend that the environment forces.
fn forced() -> Option<BackendKind> {
    Settings::get().ok().and_then(|settings| settings.backend).filter(|backend| *backend != BackendKind::Cpu)
}

/// Watches one kernel call, on behalf of the thread that created this.
#[cfg(any(feature = "cuda", feature = "opencl"))]
#[derive(Clone)]
pub(crate) struct FailureGuard(Option<(BackendKind, Failure)>);

#[cfg(any(feature = "cuda", feature = "opencl"))]
impl FailureGuard {
    /// Starts to watch a call, and forgets how this thread's last call ended.
    pub fn start() -> Self {
        let watch = forced().map(|backend| (backend, FAILURE.with(Arc::clone)));
        if let Some((_, failure)) = &watch {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        Self(watch)
    }

    /// Remembers how the call ended, on any thread, and returns `result`.
    pub fn end<T>(&self, result: Result<T, EcError>) -> Result<T, EcError> {
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

/// Returns the error of this thread's last kernel call, if a backend is forced and the CPU must not take over.
pub(crate) fn failure() -> Option<EcError> {
    forced()?;
    let reason = FAILURE.with(|failure| failure.lock().unwrap_or_else(PoisonError::into_inner).clone())?;
    Some(std::io::Error::other(reason).into())
}

/// Stops a call that cannot return an error.
///
/// # Panics
/// Panics if [`failure`] returns an error: otherwise a failure of a forced backend would be missed.
pub(crate) fn abort_process_on_failure() {
    if let Some(error) = failure() {
        panic!("{error}");
    }
}
