//! Chooses the accelerator whose devices callers see.

use proofwarp::settings::Settings;
use proofwarp::{Accelerator, BackendKind};

use super::env::requested_backend;

/// Returns the accelerator of the backend that `PROOFWARP_BACKEND` forces, else of the one that `EC_GPU_FRAMEWORK`
/// requests, else of the best available one.
///
/// # Errors
/// - [`proofwarp::Error::Invalid`]: a setting is malformed.
/// - [`proofwarp::Error::Unavailable`]: a forced or requested backend is not available.
/// - [`proofwarp::Error::Device`]: the driver of a forced or requested backend failed to open a device.
/// - [`proofwarp::Error::Unavailable`]: this crate lacks the features of all available backends.
pub(super) fn accelerator() -> proofwarp::Result<Accelerator> {
    let forced = Settings::get()?.backend;
    let accelerator = match requested_backend() {
        Some(backend) if forced.is_none() => Accelerator::with_backend(backend)?,
        _ => Accelerator::global()?.clone(),
    };
    replace_unbuilt_backend(accelerator)
}

/// Returns `accelerator` if this crate was built with the feature of its backend, else the accelerator of the other
/// framework. The feature may be missing because another crate can enable more features in proofwarp than this crate
/// has.
fn replace_unbuilt_backend(accelerator: Accelerator) -> proofwarp::Result<Accelerator> {
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
