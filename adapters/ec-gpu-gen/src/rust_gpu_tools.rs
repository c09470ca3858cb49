//! Devices and programs under the names that the crate `rust-gpu-tools` 0.7 gives them.
//!
//! Devices are proofwarp's: one backend's at a time, all of which the process can use, and only of frameworks whose features
//! this crate was built with. Kernels that a crate appended itself run through [`Program`] on the same devices, in the memory
//! and on the streams that proofwarp's own use.

mod appended;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod error;
mod ids;
#[cfg(feature = "opencl")]
pub mod opencl;
mod program;

use std::sync::LazyLock;

use proofwarp::settings::Settings;
use proofwarp::{Accelerator, BackendKind};

pub use crate::program_closures;
pub use appended::LocalBuffer;
pub use device::Device;
#[cfg(feature = "opencl")]
pub use error::ClError;
#[cfg(feature = "cuda")]
pub use error::CudaError;
pub use error::GPUError;
pub use ids::{DeviceUuid, Framework, PciId, UniqueId, Vendor};
pub use program::Program;

use crate::EcError;
use device::Handle;

static DEVICES: LazyLock<Result<Vec<Device>, String>> = LazyLock::new(|| {
    let accelerator = accelerator().map_err(|error| {
        log::error!("No working GPUs found! {error}");
        error.to_string()
    })?;
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        log::warn!("No working GPUs found! {}", accelerator.absent().join("; "));
    }
    Ok(accelerator.devices().iter().map(|device| Device(Handle(device.clone()))).collect())
});

/// Whether a way around a missing device would be a surprise.
fn is_forced() -> bool {
    Settings::get().map_or(true, |settings| settings.backend.is_some())
}

/// The accelerator of some programs' devices, without fallback: callers of this crate bring their own
/// path to the CPU, and must hear of a failure to take it.
pub(crate) fn accelerator_of(programs: &[Program]) -> Result<Accelerator, EcError> {
    let Some(first) = programs.first() else { return Err(no_device()) };
    let backend = first.proofwarp().info().backend;
    let devices = programs.iter().map(|program| program.proofwarp().clone()).collect();
    Ok(Accelerator::with_backend(backend)?.on_devices(devices))
}

/// Why there is no device to make a kernel for.
fn no_device() -> EcError {
    match &*DEVICES {
        Ok(_) => EcError::Simple("No working GPUs found!"),
        Err(reason) => GPUError::Generic(reason.clone()).into(),
    }
}

fn accelerator() -> proofwarp::Result<Accelerator> {
    let forced = Settings::get()?.backend;
    let accelerator = match backend_asked_for() {
        Some(backend) if forced.is_none() => Accelerator::with_backend(backend)?,
        _ => Accelerator::global()?.clone(),
    };
    with_feature(accelerator)
}

/// The accelerator, or the other framework's where this crate lacks the feature of the devices' framework: features of this
/// crate follow its caller's, and proofwarp may have been given more by another.
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

/// The one backend that devices may be of, where `PROOFWARP_BACKEND` forces one.
fn forced_backend() -> Option<BackendKind> {
    // A malformed setting leaves none: the CPU's has no devices.
    Settings::get().map_or(Some(BackendKind::Cpu), |settings| settings.backend)
}

/// What `EC_GPU_FRAMEWORK` says; anything but `cuda` and `opencl` is no wish, as in the stock crate.
fn backend_asked_for() -> Option<BackendKind> {
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
fn framework_asked_for() -> Result<Option<Framework>, EcError> {
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
