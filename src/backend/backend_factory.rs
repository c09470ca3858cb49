//! Opens the devices of a backend, once per process.

use std::sync::{Arc, OnceLock};

use super::{BackendKind, Device, Driver};
use crate::settings::Settings;
use crate::{Error, Result, fork_check};

/// Opens the drivers of a backend's usable devices, at least one.
type OpenDrivers = fn() -> Result<Vec<Box<dyn Driver>>>;

/// Makes the devices of one backend.
pub(crate) struct BackendFactory {
    kind: BackendKind,
    /// `None` if the build lacks the backend's feature.
    open: Option<OpenDrivers>,
    /// Outcome of the first call of [`Self::devices`].
    devices: OnceLock<Result<Vec<Arc<Device>>>>,
}

impl BackendFactory {
    /// Creates the factory of the backend `kind`. `open` opens the drivers of its usable devices, at least one.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub(super) const fn new(kind: BackendKind, open: OpenDrivers) -> Self {
        Self { kind, open: Some(open), devices: OnceLock::new() }
    }

    /// Creates the factory of the backend `kind`, whose feature the build lacks. It has no devices.
    #[cfg(any(not(feature = "cuda"), not(feature = "opencl")))]
    pub(super) const fn not_built(kind: BackendKind) -> Self {
        Self { kind, open: None, devices: OnceLock::new() }
    }

    /// Returns the name of the backend.
    pub(crate) fn kind(&self) -> BackendKind {
        self.kind
    }

    /// Returns the backend's devices, which are opened once per process. All callers share the devices' contexts and
    /// memory pools.
    ///
    /// # Errors
    /// - [`Error::Unavailable`]: the build lacks the backend's feature, or there is no usable device.
    /// - [`Error::Device`]: the driver failed to open a device.
    /// - [`Error::Invalid`]: a setting of the environment is malformed.
    /// - [`Error::Forked`]: the process was forked after its parent's first use of the engine.
    pub(crate) fn devices(&self) -> Result<Vec<Arc<Device>>> {
        // A driver may start threads, which a child forked later lacks.
        fork_check::check()?;
        self.devices.get_or_init(|| self.open_devices()).clone()
    }

    fn open_devices(&self) -> Result<Vec<Arc<Device>>> {
        let Some(open) = self.open else {
            let reason = format!("built without the feature {}", self.kind);
            return Err(Error::Unavailable { backend: self.kind, reason });
        };
        let drivers = open()?;
        let limit = Settings::get()?.memory_limit;
        Ok(drivers.into_iter().map(|driver| Device::new(driver, limit)).collect())
    }
}
