//! Which backend the environment asks for.

use proofwarp::BackendKind;
use proofwarp::settings::Settings;

use super::Framework;
use crate::EcError;

/// Whether a way around a missing device would be a surprise.
pub(super) fn is_forced() -> bool {
    Settings::get().map_or(true, |settings| settings.backend.is_some())
}

/// The one backend that devices may be of, where `PROOFWARP_BACKEND` forces one.
pub(super) fn forced_backend() -> Option<BackendKind> {
    // A malformed setting leaves none: the CPU's has no devices.
    Settings::get().map_or(Some(BackendKind::Cpu), |settings| settings.backend)
}

/// What `EC_GPU_FRAMEWORK` says; anything but `cuda` and `opencl` is no wish, as in the stock crate.
pub(super) fn backend_asked_for() -> Option<BackendKind> {
    match std::env::var("EC_GPU_FRAMEWORK").as_deref() {
        Ok("cuda") => Some(BackendKind::Cuda),
        Ok("opencl") => Some(BackendKind::OpenCl),
        _ => None,
    }
}

/// The framework that `EC_GPU_FRAMEWORK` asks for.
///
/// # Errors
/// This crate was built without its feature.
#[allow(clippy::unnecessary_wraps, reason = "there is an error where a feature lacks")]
pub(super) fn framework_asked_for() -> Result<Option<Framework>, EcError> {
    match backend_asked_for() {
        #[cfg(feature = "cuda")]
        Some(BackendKind::Cuda) => Ok(Some(Framework::Cuda)),
        #[cfg(not(feature = "cuda"))]
        Some(BackendKind::Cuda) => Err(EcError::Simple("ec-gpu-gen was built without its feature cuda")),
        #[cfg(feature = "opencl")]
        Some(BackendKind::OpenCl) => Ok(Some(Framework::Opencl)),
        #[cfg(not(feature = "opencl"))]
        Some(BackendKind::OpenCl) => Err(EcError::Simple("ec-gpu-gen was built without its feature opencl")),
        _ => Ok(None),
    }
}
