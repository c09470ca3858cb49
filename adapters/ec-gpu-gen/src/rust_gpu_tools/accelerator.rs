//! Chooses the accelerator whose devices callers see.

use proofwarp::settings::Settings;
use proofwarp::{Accelerator, BackendKind};

use super::env::backend_asked_for;

/// Returns the accelerator of the backend that is forced or requested, or else of the best one.
///
/// # Errors
/// - [`proofwarp::Error::Invalid`]: a setting is malformed.
/// - [`proofwarp::Error::Unavailable`]: a forced or requested backend is not available.
/// - [`proofwarp::Error::Device`]: the driver of a forced or requested backend failed to open a device.
/// - [`proofwarp::Error::Unavailable`]: this crate lacks the features of all available backends.
pub(super) fn accelerator() -> proofwarp::Result<Accelerator> {
    let forced = Settings::get()?.backend;
    let accelerator = match backend_asked_for() {
        Some(backend) if forced.is_none() => Accelerator::with_backend(backend)?,
        _ => Accelerator::global()?.clone(),
    };
    with_feature(accelerator)
}

/// Returns `accelerator`, or the other framework's if this crate lacks the feature of the devices' framework. This
/// crate's features follow its caller's, but another crate may have enabled more in proofwarp.
fn with_feature(accelerator: Accelerator) -> proofwarp::Result<Accelerator> {
    let Some(backend) = accelerator.devices().first().map(|device| device.info().backend) else {
        return Ok(accelerator);
    };
    if has_feature(backend) {
        return Ok(accelerator);
    }
    let lacking = format!("ec-gpu-gen was built without its feature {backend}");
    if accelerator.forced().is_some() {
        return Err(proofwarp::Error::Unavailable { backend, reason: lacking });
    }
    let other = if backend == BackendKind::Cuda { BackendKind::OpenCl } else { BackendKind::Cuda };
    Accelerator::with_backend(other).map_err(|error| {
        let reason = format!("{lacking}, and {error}");
        proofwarp::Error::Unavailable { backend, reason }
    })
}

const fn has_feature(backend: BackendKind) -> bool {
    match backend {
        BackendKind::Cuda => cfg!(feature = "cuda"),
        BackendKind::OpenCl => cfg!(feature = "opencl"),
        BackendKind::Cpu => true,
    }
}
