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

use crate::Result;
use crate::backend::{BackendFactory, BackendKind, Device, backend_factories};
use crate::settings::Settings;

/// Holds the devices that operations run on, and the policy for falling back to the CPU. The [module](self) has an
/// example.
///
/// A clone shares the devices. Algorithms take an accelerator by reference, or keep a clone.
#[derive(Debug, Clone)]
pub struct Accelerator {
    devices: Vec<Arc<Device>>,
    forced: Option<BackendKind>,
    /// Reasons why CUDA and OpenCL have no devices here, in the order in which they were tried.
    unavailable_reasons: Vec<String>,
}

/// Holds the accelerator that [`Accelerator::global`] returns, or the error of its creation. It is empty before the
/// first use.
static GLOBAL: OnceLock<Result<Accelerator>> = OnceLock::new();

impl Accelerator {
    /// Creates an accelerator with the backend that the environment variable `PROOFWARP_BACKEND` forces. If the
    /// variable is unset, [`Self::automatic`] chooses the backend.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a setting of the environment is malformed ([`Settings::get`]).
    /// - [`Error::Unavailable`](crate::Error::Unavailable): the forced backend has no device here.
    /// - [`Error::Device`](crate::Error::Device): the forced backend's driver failed to open a device.
    /// - [`Error::Forked`](crate::Error::Forked): a backend with devices is forced in a process that was forked after
    ///   its parent's first use of the engine.
    pub fn from_env() -> Result<Self> {
        match Settings::get()?.backend {
            Some(backend) => Self::with_backend(backend),
            None => Self::automatic(),
        }
    }

    /// Creates an accelerator with all CUDA devices, or with all OpenCL devices if there is no CUDA device. Without any
    /// device, operations run on the CPU.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a setting of the environment is malformed.
    pub fn automatic() -> Result<Self> {
        Settings::get()?;
        let mut unavailable_reasons = Vec::new();
        let mut devices = Vec::new();
        for factory in backend_factories() {
            // A GPU that CUDA reaches is not used a second time through OpenCL.
            if devices.is_empty() {
                match factory.devices() {
                    Ok(found) => devices = found,
                    Err(error) => unavailable_reasons.push(error.to_string()),
                }
            }
        }
        Ok(Self { devices, forced: None, unavailable_reasons })
    }

    /// Creates an accelerator that uses only `backend`, without fallback. An operation that `backend` cannot do is an
    /// error.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a setting of the environment is malformed.
    /// - [`Error::Unavailable`](crate::Error::Unavailable): `backend` has no device here.
    /// - [`Error::Device`](crate::Error::Device): the driver of `backend` failed to open a device.
    /// - [`Error::Forked`](crate::Error::Forked): `backend` has devices, and the process was forked after its parent's
    ///   first use of the engine.
    pub fn with_backend(backend: BackendKind) -> Result<Self> {
        Settings::get()?;
        // The CPU has no factory, because it needs no devices.
        let factory = backend_factories().iter().find(|factory| factory.kind() == backend);
        let devices = factory.map_or(Ok(Vec::new()), BackendFactory::devices)?;
        Ok(Self { devices, forced: Some(backend), unavailable_reasons: Vec::new() })
    }

    /// Creates a CPU-only accelerator that ignores the settings. It serves callers that must report a malformed setting
    /// themselves.
    #[cfg(feature = "mpi")]
    pub(crate) fn cpu_only() -> Self {
        Self { devices: Vec::new(), forced: None, unavailable_reasons: Vec::new() }
    }

    /// Returns a copy that uses only `devices`. The forced backend and the fallback policy stay the same.
    #[must_use]
    pub fn with_devices(&self, devices: Vec<Arc<Device>>) -> Self {
        Self { devices, ..self.clone() }
    }

    /// Returns a copy that reports a device's failure as an error instead of falling back to the CPU. Without devices,
    /// the copy still uses the CPU.
    pub(crate) fn without_cpu_fallback(&self) -> Self {
        let backend = self.devices.first().map(|device| device.info().backend);
        Self { forced: self.forced.or(backend), ..self.clone() }
    }

    /// Returns the process-wide accelerator, which the first call creates by [`Self::from_env`]. Later calls return the
    /// same accelerator, or the same error.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a setting of the environment is malformed ([`Settings::get`]).
    /// - [`Error::Unavailable`](crate::Error::Unavailable): the forced backend has no device here.
    /// - [`Error::Device`](crate::Error::Device): the forced backend's driver failed to open a device.
    /// - [`Error::Forked`](crate::Error::Forked): a backend with devices is forced in a process that was forked after
    ///   its parent's first use of the engine.
    pub fn global() -> Result<&'static Self> {
        GLOBAL.get_or_init(Self::from_env).as_ref().map_err(Clone::clone)
    }

    /// Makes this the accelerator that [`Self::global`] returns. Returns false, and changes nothing, if there is one
    /// already. Adapters' tests use it with failing devices.
    #[doc(hidden)]
    pub fn make_global(self) -> bool {
        GLOBAL.set(Ok(self)).is_ok()
    }

    /// Returns the devices that operations are spread over. The slice is empty if operations run on the CPU.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Returns the only backend that may be used, or `None` if no backend is forced.
    pub fn forced(&self) -> Option<BackendKind> {
        self.forced
    }

    /// Returns the reasons why backends that are preferred to the one in use have no devices here. The slice is empty
    /// if a backend is forced.
    pub fn unavailable_reasons(&self) -> &[String] {
        &self.unavailable_reasons
    }
}
