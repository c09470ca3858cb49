//! A forced backend cannot be missed.
//!
//! bellperson takes every error of a kernel for a reason to compute on the CPU. Where `PROOFWARP_BACKEND` names a backend of
//! devices, what failed there is therefore remembered: the way to the CPU gives that error, or panics where it has none to
//! give. The memory is one thread's, until its next call of a kernel. Aborted calls are not remembered, since they are made
//! again, nor are types that no backend knows.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::BackendKind;
use proofwarp::settings::Settings;

use crate::EcError;

/// Why a call of a kernel failed, if one did.
type Failure = Arc<Mutex<Option<String>>>;

thread_local! {
    static FAILURE: Failure = Arc::default();
}

/// The backend of devices that the environment forces.
fn forced() -> Option<BackendKind> {
    Settings::get().ok().and_then(|settings| settings.backend).filter(|backend| *backend != BackendKind::Cpu)
}

/// One call of a kernel, by the thread that made this.
#[cfg(any(feature = "cuda", feature = "opencl"))]
#[derive(Clone)]
pub(crate) struct Watch(Option<(BackendKind, Failure)>);

#[cfg(any(feature = "cuda", feature = "opencl"))]
impl Watch {
    /// Forgets how this thread's last call ended.
    pub fn start() -> Self {
        let watch = forced().map(|backend| (backend, FAILURE.with(Arc::clone)));
        if let Some((_, failure)) = &watch {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        Self(watch)
    }

    /// Remembers how it ended, on any thread.
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

/// The error with which this thread's last call of a kernel failed, where it may not be followed by one of the CPU.
pub(crate) fn failure() -> Option<EcError> {
    forced()?;
    let reason = FAILURE.with(|failure| failure.lock().unwrap_or_else(PoisonError::into_inner).clone())?;
    Some(std::io::Error::other(reason).into())
}

/// For calls that have no errors.
///
/// # Panics
/// There is such an error: nothing else would keep a forced backend from being missed.
pub(crate) fn stop_after_failure() {
    if let Some(error) = failure() {
        panic!("{error}");
    }
}
