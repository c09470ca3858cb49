//! Chooses the devices that run an operation, and falls back to the CPU if that is allowed.
//!
//! ```
//! use proofwarp::{Accelerator, BackendKind};
//!
//! let accelerator = Accelerator::from_env()?; // CUDA, then OpenCL, then the CPU, or what PROOFWARP_BACKEND forces
//! for device in accelerator.devices() {
//!     println!("{} on {}: {} bytes free", device.info().name, device.info().backend, device.free_memory()?);
//! }
//! accelerator.unavailable_reasons().iter().for_each(|reason| println!("{reason}")); // why a better backend is not used
//!
//! let host = Accelerator::with_backend(BackendKind::Cpu)?; // one backend, without fallback
//! assert!(host.devices().is_empty());
//! # Ok::<(), proofwarp::Error>(())
//! ```

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::backend::{BackendKind, Device, StreamStats};
use crate::report::{OpScope, Report, operation};
use crate::settings::Settings;
use crate::{Error, Result, fork_check, threads};

/// Holds the devices of this process and the policy for choosing among them; the [module](self) has an example.
///
/// A clone shares the devices. Algorithms take it by reference, or keep a clone.
#[derive(Debug, Clone)]
pub struct Accelerator {
    devices: Vec<Arc<Device>>,
    forced: Option<BackendKind>,
    /// Reasons why backends have no devices here.
    unavailable_reasons: Vec<String>,
}

/// Holds the process's own accelerator once it has been made.
static GLOBAL: OnceLock<Result<Accelerator>> = OnceLock::new();

impl Accelerator {
    /// Creates an accelerator from the environment: [`Self::automatic`], or only the backend that `PROOFWARP_BACKEND`
    /// forces.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a setting of the environment is malformed ([`Settings::get`]).
    /// - [`Error::Unavailable`]: the forced backend has no device here.
    /// - [`Error::Device`]: the forced backend's driver failed to open a device.
    /// - [`Error::Forked`]: a backend with devices is forced in a process that was forked after its parent's first use
    ///   of the engine.
    pub fn from_env() -> Result<Self> {
        match Settings::get()?.backend {
            Some(backend) => Self::with_backend(backend),
            None => Self::automatic(),
        }
    }

    /// Creates an accelerator with all devices of the first backend that has any, CUDA or OpenCL. The CPU is the last
    /// resort.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a setting of the environment is malformed.
    pub fn automatic() -> Result<Self> {
        Settings::get()?;
        let mut unavailable_reasons = Vec::new();
        let mut devices = Vec::new();
        for backend in [BackendKind::Cuda, BackendKind::OpenCl] {
            // A GPU that CUDA reaches is not used a second time through OpenCL.
            if devices.is_empty() {
                match backend_devices(backend) {
                    Ok(found) => devices = found,
                    Err(error) => unavailable_reasons.push(error.to_string()),
                }
            }
        }
        Ok(Self { devices, forced: None, unavailable_reasons })
    }

    /// Creates an accelerator with one backend and no fallback: an operation that `backend` cannot do is an error.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a setting of the environment is malformed.
    /// - [`Error::Unavailable`]: `backend` has no device here.
    /// - [`Error::Device`]: the driver of `backend` failed to open a device.
    /// - [`Error::Forked`]: `backend` has devices, and the process was forked after its parent's first use of the
    ///   engine.
    pub fn with_backend(backend: BackendKind) -> Result<Self> {
        Settings::get()?;
        let devices = if backend == BackendKind::Cpu { Vec::new() } else { backend_devices(backend)? };
        Ok(Self { devices, forced: Some(backend), unavailable_reasons: Vec::new() })
    }

    /// Creates a CPU-only accelerator that ignores the settings, for callers that must report a malformed setting
    /// themselves.
    #[cfg(feature = "mpi")]
    pub(crate) fn cpu_only() -> Self {
        Self { devices: Vec::new(), forced: None, unavailable_reasons: Vec::new() }
    }

    /// Returns a copy with the same policy that uses only `devices`.
    #[must_use]
    pub fn with_devices(&self, devices: Vec<Arc<Device>>) -> Self {
        Self { devices, ..self.clone() }
    }

    /// Returns a copy that does not fall back to the host, if it has devices.
    pub(crate) fn without_cpu_fallback(&self) -> Self {
        let backend = self.devices.first().map(|device| device.info().backend);
        Self { forced: self.forced.or(backend), ..self.clone() }
    }

    /// Returns the process's own accelerator, made from the environment at first use.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a setting of the environment is malformed ([`Settings::get`]).
    /// - [`Error::Unavailable`]: the forced backend has no device here.
    /// - [`Error::Device`]: the forced backend's driver failed to open a device.
    /// - [`Error::Forked`]: a backend with devices is forced in a process that was forked after its parent's first use
    ///   of the engine.
    pub fn global() -> Result<&'static Self> {
        GLOBAL.get_or_init(Self::from_env).as_ref().map_err(Clone::clone)
    }

    /// Makes this the process's own accelerator, unless there is one already, and returns whether it did. Adapters'
    /// tests use it with failing devices.
    #[doc(hidden)]
    pub fn make_global(self) -> bool {
        GLOBAL.set(Ok(self)).is_ok()
    }

    /// Returns the devices that operations are spread over; empty if only the CPU is left.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Returns the backend that was forced, if one was.
    pub fn forced(&self) -> Option<BackendKind> {
        self.forced
    }

    /// Returns the reasons why backends preferred to the one in use have no devices here; empty if a backend is forced.
    pub fn unavailable_reasons(&self) -> &[String] {
        &self.unavailable_reasons
    }

    /// Runs an operation on the devices, or on the CPU if fallback is allowed.
    ///
    /// `gpu` must leave inputs untouched if it fails. An aborted or invalid call never falls back.
    pub(crate) fn dispatch<T>(
        &self,
        call: OpScope,
        gpu: impl FnOnce(&[Arc<Device>]) -> Result<(T, StreamStats)>,
        cpu: impl FnOnce() -> Result<T>,
    ) -> Result<(T, Report)> {
        fork_check::check()?;
        threads::check()?;
        let start = Instant::now();
        let _span = operation(&call.operation, call.elements);
        let mut fallbacks = self.unavailable_reasons.clone();
        if let Some(device) = self.devices.first() {
            match gpu(&self.devices) {
                Ok((value, traffic)) => {
                    let info = device.info();
                    return Ok((value, call.finish(info.backend, &info.name, start, traffic, fallbacks)));
                }
                Err(error) => {
                    call.failed(device.info(), &error);
                    if self.forced.is_some() || matches!(error, Error::Aborted | Error::Invalid { .. }) {
                        return Err(error);
                    }
                    fallbacks.push(error.to_string());
                }
            }
        }
        let value = cpu()?;
        Ok((value, call.finish(BackendKind::Cpu, "host", start, StreamStats::default(), fallbacks)))
    }
}

/// Returns the devices of `backend`, found once per process: all users share contexts and pools.
fn backend_devices(backend: BackendKind) -> Result<Vec<Arc<Device>>> {
    static CUDA: OnceLock<Result<Vec<Arc<Device>>>> = OnceLock::new();
    static OPENCL: OnceLock<Result<Vec<Arc<Device>>>> = OnceLock::new();
    // A driver may start threads, which a child forked later lacks.
    fork_check::check()?;
    match backend {
        BackendKind::Cuda => CUDA.get_or_init(find_cuda).clone(),
        BackendKind::OpenCl => OPENCL.get_or_init(find_opencl).clone(),
        BackendKind::Cpu => Ok(Vec::new()),
    }
}

#[cfg(feature = "cuda")]
fn find_cuda() -> Result<Vec<Arc<Device>>> {
    let drivers = crate::backend::cuda::drivers();
    if let (Err(error), false) = (&drivers, crate::backend::cuda::BUILD_NOTE.is_empty()) {
        // cargo hides the build warnings of dependencies.
        log::error!("{error}");
    }
    into_devices(drivers?)
}

#[cfg(not(feature = "cuda"))]
fn find_cuda() -> Result<Vec<Arc<Device>>> {
    Err(unavailable(BackendKind::Cuda, "built without the feature cuda"))
}

#[cfg(feature = "opencl")]
fn find_opencl() -> Result<Vec<Arc<Device>>> {
    into_devices(crate::backend::opencl::drivers()?)
}

#[cfg(not(feature = "opencl"))]
fn find_opencl() -> Result<Vec<Arc<Device>>> {
    Err(unavailable(BackendKind::OpenCl, "built without the feature opencl"))
}

#[cfg(any(not(feature = "cuda"), not(feature = "opencl")))]
fn unavailable(backend: BackendKind, reason: &str) -> Error {
    Error::Unavailable { backend, reason: reason.to_owned() }
}

#[cfg(any(feature = "cuda", feature = "opencl"))]
fn into_devices<D: crate::backend::Driver + 'static>(drivers: Vec<D>) -> Result<Vec<Arc<Device>>> {
    let limit = Settings::get()?.memory_limit;
    Ok(drivers.into_iter().map(|driver| Device::new(Box::new(driver), limit)).collect())
}
