//! Reads which backend the environment requests.

use proofwarp::BackendKind;
use proofwarp::settings::Settings;

use super::Framework;
use crate::EcError;

/// Returns true if `PROOFWARP_BACKEND` forces a backend, or if the settings are malformed. A missing device must then
/// not lead to a silent fallback to the CPU.
pub(super) fn is_backend_forced() -> bool {
    Settings::get().map_or(true, |settings| settings.backend.is_some())
}

/// Returns the backend that `PROOFWARP_BACKEND` forces, or `None` if it forces none. Malformed settings count as
/// forcing the CPU.
pub(super) fn forced_backend() -> Option<BackendKind> {
    // Malformed settings allow no device: the CPU backend has none.
    Settings::get().map_or(Some(BackendKind::Cpu), |settings| settings.backend)
}

/// Returns the backend that `EC_GPU_FRAMEWORK` requests. Returns `None` for any value but `cuda` and `opencl`, as the
/// stock crate does.
pub(super) fn requested_backend() -> Option<BackendKind> {
    match std::env::var("EC_GPU_FRAMEWORK").as_deref() {
        Ok("cuda") => Some(BackendKind::Cuda),
        Ok("opencl") => Some(BackendKind::OpenCl),
        _ => None,
    }
}

/// Returns the framework that `EC_GPU_FRAMEWORK` requests, or `None` if it requests none.
///
/// # Errors
/// - [`EcError::Simple`]: this crate was built without the framework's feature.
#[allow(clippy::unnecessary_wraps, reason = "there is an error where a feature lacks")]
pub(super) fn requested_framework() -> Result<Option<Framework>, EcError> {
    match requested_backend() {
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
