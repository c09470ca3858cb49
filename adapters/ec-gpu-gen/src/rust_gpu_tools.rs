//! Devices and programs under the names that the crate `rust-gpu-tools` gives them.
//!
//! Devices are proofwarp's: one backend's at a time, all of which the process can use. Kernels that a crate
//! appended itself run through [`opencl::Program`]; on CUDA only proofwarp's own do.

#[cfg(feature = "opencl")]
pub mod opencl;
mod program;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use proofwarp::backend::DeviceInfo;
use proofwarp::settings::Settings;
use proofwarp::{Accelerator, BackendKind};

pub use crate::program_closures;
pub use program::Program;
#[cfg(feature = "cuda")]
pub use program::cuda;

use crate::EcError;

static DEVICES: LazyLock<Result<Vec<Device>, String>> = LazyLock::new(|| {
    let accelerator = accelerator().map_err(|error| {
        log::error!("No working GPUs found! {error}");
        error.to_string()
    })?;
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        log::warn!("No working GPUs found! {}", accelerator.absent().join("; "));
    }
    Ok(accelerator.devices().iter().cloned().map(Device).collect())
});

/// Whether a way around a missing device would be a surprise.
fn is_forced() -> bool {
    Settings::get().map_or(true, |settings| settings.backend.is_some())
}

/// Errors around devices.
#[derive(thiserror::Error, Debug)]
#[allow(clippy::upper_case_acronyms)] // The name is part of the interface.
pub enum GPUError {
    /// There is no such device.
    #[error("Device not found!")]
    DeviceNotFound,
    /// There is no kernel of that name.
    #[error("Kernel with name {0} not found!")]
    KernelNotFound(String),
    /// Input or output failed.
    #[error("IO Error: {0}")]
    IO(#[from] std::io::Error),
    /// The device is of a vendor that is not supported.
    #[error("Vendor {0} is not supported.")]
    UnsupportedVendor(String),
    /// A text is not a unique identifier.
    #[error("{0}")]
    InvalidId(String),
    /// Any other error.
    #[error("{0}")]
    Generic(String),
}

/// How a device is reached.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Framework {
    /// CUDA.
    #[cfg(feature = "cuda")]
    Cuda,
    /// OpenCL.
    #[cfg(feature = "opencl")]
    Opencl,
}

/// A universally unique identifier.
#[derive(Copy, Clone, Default, Eq, Hash, PartialEq)]
pub struct DeviceUuid([u8; 16]);

impl From<[u8; 16]> for DeviceUuid {
    fn from(uuid: [u8; 16]) -> Self {
        Self(uuid)
    }
}

impl From<DeviceUuid> for [u8; 16] {
    fn from(uuid: DeviceUuid) -> Self {
        uuid.0
    }
}

impl TryFrom<&str> for DeviceUuid {
    type Error = GPUError;

    /// Reads aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee.
    fn try_from(text: &str) -> Result<Self, GPUError> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        let invalid = || GPUError::InvalidId(format!("UUID: expected 32 hexadecimal digits, got {text:?}"));
        if digits.len() != 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        u128::from_str_radix(&digits, 16).map(|number| Self(number.to_be_bytes())).map_err(|_| invalid())
    }
}

impl fmt::Display for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for DeviceUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Tells devices apart, over processes too: bellperson's lock files carry it in their names.
#[derive(Copy, Clone, Debug, Eq, Hash, PartialEq)]
pub enum UniqueId {
    /// By a universally unique identifier.
    Uuid(DeviceUuid),
}

impl From<proofwarp::Error> for GPUError {
    fn from(error: proofwarp::Error) -> Self {
        Self::Generic(error.to_string())
    }
}

impl TryFrom<&str> for UniqueId {
    type Error = GPUError;

    fn try_from(text: &str) -> Result<Self, GPUError> {
        DeviceUuid::try_from(text).map(Self::Uuid)
    }
}

impl fmt::Display for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Uuid(uuid) = self;
        fmt::Display::fmt(uuid, f)
    }
}

/// A device that proofwarp can use.
#[derive(Clone, Debug)]
pub struct Device(Arc<proofwarp::backend::Device>);

impl Device {
    /// All devices of the backend in use; empty where only the CPU is left.
    ///
    /// # Panics
    /// `PROOFWARP_BACKEND` forces a backend that has no device here, or a setting of the environment is malformed: this
    /// interface has no error, and callers take an empty list for a reason to compute on the CPU.
    pub fn all() -> Vec<&'static Self> {
        match &*DEVICES {
            Err(reason) if is_forced() => panic!("{reason}"),
            Err(_) => Vec::new(),
            Ok(devices) => devices.iter().collect(),
        }
    }

    /// The device of that identifier.
    pub fn by_unique_id(id: UniqueId) -> Option<&'static Self> {
        Self::all().into_iter().find(|device| device.unique_id() == id)
    }

    /// The device of that identifier.
    pub fn by_uuid(uuid: DeviceUuid) -> Option<&'static Self> {
        Self::by_unique_id(UniqueId::Uuid(uuid))
    }

    /// The vendor's name for it.
    pub fn name(&self) -> String {
        self.info().name.clone()
    }

    /// Total memory in bytes.
    pub fn memory(&self) -> u64 {
        self.info().memory
    }

    /// Multiprocessors or compute units.
    pub fn compute_units(&self) -> u32 {
        self.info().compute_units
    }

    /// What tells it apart from others.
    pub fn unique_id(&self) -> UniqueId {
        UniqueId::Uuid(DeviceUuid(self.info().unique_id))
    }

    /// How it is reached.
    pub fn framework(&self) -> Framework {
        match self.info().backend {
            #[cfg(feature = "cuda")]
            BackendKind::Cuda => Framework::Cuda,
            #[cfg(feature = "opencl")]
            BackendKind::OpenCl => Framework::Opencl,
            // No accelerator has a device of another backend; the arm is for the compiler.
            #[cfg(feature = "opencl")]
            _ => Framework::Opencl,
            #[cfg(not(feature = "opencl"))]
            _ => Framework::Cuda,
        }
    }

    /// The device as proofwarp has it.
    pub fn proofwarp(&self) -> &Arc<proofwarp::backend::Device> {
        &self.0
    }

    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.unique_id() == other.unique_id()
    }
}

impl Eq for Device {}

impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.unique_id().hash(state);
    }
}

/// The accelerator of some programs' devices, without fallback: callers of this crate bring their own
/// path to the CPU, and must hear of a failure to take it.
pub(crate) fn accelerator_of(programs: &[Program]) -> Result<Accelerator, EcError> {
    let Some(first) = programs.first() else { return Err(no_device()) };
    let backend = first.device().info().backend;
    let devices = programs.iter().map(|program| program.device().0.clone()).collect();
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
    match framework_asked_for() {
        Some(backend) if forced.is_none() => Accelerator::with_backend(backend),
        _ => Accelerator::global().cloned(),
    }
}

/// What `EC_GPU_FRAMEWORK` says; anything but `cuda` and `opencl` is no wish, as in the stock crate.
fn framework_asked_for() -> Option<BackendKind> {
    match std::env::var("EC_GPU_FRAMEWORK").as_deref() {
        Ok("cuda") => Some(BackendKind::Cuda),
        Ok("opencl") => Some(BackendKind::OpenCl),
        _ => None,
    }
}
