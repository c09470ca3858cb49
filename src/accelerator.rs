//! Which devices run an operation, and what happens when one cannot.
//!
//! ```
//! use proofwarp::{Accelerator, BackendKind};
//!
//! let accelerator = Accelerator::from_env()?; // CUDA, then OpenCL, then the CPU, or what PROOFWARP_BACKEND forces
//! for device in accelerator.devices() {
//!     println!("{} on {}: {} bytes free", device.info().name, device.info().backend, device.free_memory()?);
//! }
//! accelerator.absent().iter().for_each(|reason| println!("{reason}")); // why a better backend is not used
//!
//! let host = Accelerator::with_backend(BackendKind::Cpu)?; // one backend, without fallback
//! assert!(host.devices().is_empty());
//! # Ok::<(), proofwarp::Error>(())
//! ```

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::backend::{BackendKind, Device, Traffic};
use crate::report::{Call, Report, operation};
use crate::settings::Settings;
use crate::{Error, Result, process, threads};

/// The devices of this process and the policy for choosing among them: see the [module](self)'s example.
///
/// A clone shares devices. Algorithms take it by reference, or keep a clone.
#[derive(Debug, Clone)]
pub struct Accelerator {
    devices: Vec<Arc<Device>>,
    forced: Option<BackendKind>,
    /// Why a backend has no devices here.
    absent: Vec<String>,
}

/// The process's own.
static GLOBAL: OnceLock<Result<Accelerator>> = OnceLock::new();

impl Accelerator {
    /// Backends in the order CUDA, OpenCL, CPU, or only the one that `PROOFWARP_BACKEND` forces.
    ///
    /// # Errors
    /// A setting of the environment is malformed ([`Settings::get`]), or the backend that is forced has no device here.
    pub fn from_env() -> Result<Self> {
        match Settings::get()?.backend {
            Some(backend) => Self::with_backend(backend),
            None => Self::automatic(),
        }
    }

    /// All devices of all backends, the CPU as the last resort.
    ///
    /// # Errors
    /// A setting of the environment is malformed.
    pub fn automatic() -> Result<Self> {
        Settings::get()?;
        let mut absent = Vec::new();
        let mut devices = Vec::new();
        for backend in [BackendKind::Cuda, BackendKind::OpenCl] {
            // A GPU that CUDA reaches is not used a second time through OpenCL.
            if devices.is_empty() {
                match backend_devices(backend) {
                    Ok(found) => devices = found,
                    Err(error) => absent.push(error.to_string()),
                }
            }
        }
        Ok(Self { devices, forced: None, absent })
    }

    /// One backend, without fallback: an operation that it cannot do is an error.
    ///
    /// # Errors
    /// The backend has no device here, or a setting of the environment is malformed.
    pub fn with_backend(backend: BackendKind) -> Result<Self> {
        Settings::get()?;
        let devices = if backend == BackendKind::Cpu { Vec::new() } else { backend_devices(backend)? };
        Ok(Self { devices, forced: Some(backend), absent: Vec::new() })
    }

    /// The CPU alone, whatever settings say: for who has to say first that they are malformed.
    #[cfg(feature = "mpi")]
    pub(crate) fn without_settings() -> Self {
        Self { devices: Vec::new(), forced: None, absent: Vec::new() }
    }

    /// The same policy on some of the devices.
    #[must_use]
    pub fn on_devices(&self, devices: Vec<Arc<Device>>) -> Self {
        Self { devices, ..self.clone() }
    }

    /// The same devices without fallback to the host, where there are devices.
    pub(crate) fn without_host(&self) -> Self {
        let backend = self.devices.first().map(|device| device.info().backend);
        Self { forced: self.forced.or(backend), ..self.clone() }
    }

    /// The process's own accelerator, made from the environment at first use.
    ///
    /// # Errors
    /// As [`Self::from_env`].
    pub fn global() -> Result<&'static Self> {
        GLOBAL.get_or_init(Self::from_env).as_ref().map_err(Clone::clone)
    }

    /// Becomes the process's own accelerator, unless there is one: for tests of what adapters do on devices that go wrong.
    #[doc(hidden)]
    pub fn make_global(self) -> bool {
        GLOBAL.set(Ok(self)).is_ok()
    }

    /// The devices operations are spread over; empty where only the CPU is left.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The backend that was forced, if one was.
    pub fn forced(&self) -> Option<BackendKind> {
        self.forced
    }

    /// Why backends that come before the one in use have no devices here; empty where one is forced.
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// Runs an operation on the devices, or, where that is allowed, on the CPU.
    ///
    /// `gpu` must leave inputs untouched when it fails. An abort is never followed by a fallback.
    pub(crate) fn run<T>(
        &self,
        call: Call,
        gpu: impl FnOnce(&[Arc<Device>]) -> Result<(T, Traffic)>,
        cpu: impl FnOnce() -> Result<T>,
    ) -> Result<(T, Report)> {
        process::check()?;
        threads::check()?;
        let start = Instant::now();
        let _span = operation(&call.operation, call.elements);
        let mut fallbacks = self.absent.clone();
        if let Some(device) = self.devices.first() {
            match gpu(&self.devices) {
                Ok((value, traffic)) => {
                    let info = device.info();
                    return Ok((value, call.done(info.backend, &info.name, start, traffic, fallbacks)));
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
        Ok((value, call.done(BackendKind::Cpu, "host", start, Traffic::default(), fallbacks)))
    }
}

/// The devices of a backend, found once per process: contexts and pools are shared by all users.
fn backend_devices(backend: BackendKind) -> Result<Vec<Arc<Device>>> {
    static CUDA: OnceLock<Result<Vec<Arc<Device>>>> = OnceLock::new();
    static OPENCL: OnceLock<Result<Vec<Arc<Device>>>> = OnceLock::new();
    // A driver may start threads, which a later child has not.
    process::check()?;
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
        // cargo hides what the build of a dependency warns of.
        log::error!("{error}");
    }
    wrap(drivers?)
}

#[cfg(not(feature = "cuda"))]
fn find_cuda() -> Result<Vec<Arc<Device>>> {
    Err(unavailable(BackendKind::Cuda, "built without the feature cuda"))
}

#[cfg(feature = "opencl")]
fn find_opencl() -> Result<Vec<Arc<Device>>> {
    wrap(crate::backend::opencl::drivers()?)
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
fn wrap<D: crate::backend::Driver + 'static>(drivers: Vec<D>) -> Result<Vec<Arc<Device>>> {
    let limit = Settings::get()?.memory_limit;
    Ok(drivers.into_iter().map(|driver| Device::new(Box::new(driver), limit)).collect())
}
