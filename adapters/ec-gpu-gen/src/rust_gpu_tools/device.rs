//! Provides the devices that this crate's callers see.

use std::sync::{Arc, LazyLock};

use proofwarp::BackendKind;

use super::accelerator::accelerator;
#[cfg(feature = "cuda")]
use super::cuda;
use super::env::is_backend_forced;
use super::handle::Handle;
#[cfg(feature = "opencl")]
use super::opencl;
use super::{DeviceUuid, Framework, PciId, UniqueId, Vendor};

/// Lists all devices of the backend in use, or holds the error that opening them returned.
pub(super) static DEVICES: LazyLock<Result<Vec<Device>, String>> = LazyLock::new(|| {
    let accelerator = accelerator().map_err(|error| {
        log::error!("No working GPUs found! {error}");
        error.to_string()
    })?;
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        log::warn!("No working GPUs found! {}", accelerator.unavailable_reasons().join("; "));
    }
    Ok(accelerator.devices().iter().map(|device| Device(Handle(device.clone()))).collect())
});

/// A device that proofwarp can use.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Device(pub(super) Handle);

impl Device {
    /// Returns all devices of the backend in use. The list is empty if only the CPU can be used.
    ///
    /// # Panics
    /// Panics if `PROOFWARP_BACKEND` forces a backend that has no device here, or if a setting of the environment is
    /// malformed. This interface cannot return an error, and callers would compute on the CPU after an empty list.
    pub fn all() -> Vec<&'static Self> {
        match &*DEVICES {
            Err(reason) if is_backend_forced() => panic!("{reason}"),
            Err(_) => Vec::new(),
            Ok(devices) => devices.iter().collect(),
        }
    }

    /// Returns the device with the identifier `id`, or `None` if there is none.
    pub fn by_unique_id(id: UniqueId) -> Option<&'static Self> {
        match id {
            UniqueId::PciId(id) => Self::by_pci_id(id),
            UniqueId::Uuid(uuid) => Self::by_uuid(uuid),
        }
    }

    /// Returns the device with the identifier `uuid`, or `None` if there is none.
    pub fn by_uuid(uuid: DeviceUuid) -> Option<&'static Self> {
        Self::all().into_iter().find(|device| device.0.uuid() == uuid)
    }

    /// Returns the device at the PCI address `id`, or `None` if there is none.
    pub fn by_pci_id(id: PciId) -> Option<&'static Self> {
        Self::all().into_iter().find(|device| device.0.pci_id() == id)
    }

    /// Returns the vendor. Any vendor but NVIDIA is reported as AMD.
    pub fn vendor(&self) -> Vendor {
        self.0.vendor()
    }

    /// Returns the vendor's name for the device.
    pub fn name(&self) -> String {
        self.0.info().name.clone()
    }

    /// Returns the total memory in bytes.
    pub fn memory(&self) -> u64 {
        self.0.info().memory
    }

    /// Returns the number of multiprocessors (CUDA) or compute units (OpenCL).
    pub fn compute_units(&self) -> u32 {
        self.0.info().compute_units
    }

    /// Returns the compute capability of an NVIDIA device as (major, minor), or `None` if the driver reports none.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        self.0.info().compute_capability
    }

    /// Returns the identifier that distinguishes the device from others, which is its UUID.
    pub fn unique_id(&self) -> UniqueId {
        UniqueId::Uuid(self.0.uuid())
    }

    /// Returns the framework, CUDA or OpenCL, through which the device is used.
    pub fn framework(&self) -> Framework {
        match self.0.info().backend {
            #[cfg(feature = "cuda")]
            BackendKind::Cuda => Framework::Cuda,
            #[cfg(feature = "opencl")]
            BackendKind::OpenCl => Framework::Opencl,
            // No device of a framework without its feature is listed; the arm is for the compiler.
            #[cfg(feature = "opencl")]
            _ => Framework::Opencl,
            #[cfg(not(feature = "opencl"))]
            _ => Framework::Cuda,
        }
    }

    /// Returns this device as a CUDA device. Returns `None` if CUDA does not list it, or if `PROOFWARP_BACKEND` forces
    /// another backend.
    #[cfg(feature = "cuda")]
    pub fn cuda_device(&self) -> Option<&cuda::Device> {
        cuda::DEVICES.iter().find(|device| device.handle.is_same_device(&self.0))
    }

    /// Returns this device as an OpenCL device. Returns `None` if OpenCL does not list it, or if `PROOFWARP_BACKEND`
    /// forces another backend.
    #[cfg(feature = "opencl")]
    pub fn opencl_device(&self) -> Option<&opencl::Device> {
        opencl::DEVICES.iter().find(|device| device.handle.is_same_device(&self.0))
    }

    /// Returns the device object of proofwarp that this device wraps.
    pub fn proofwarp(&self) -> &Arc<proofwarp::backend::Device> {
        &self.0.0
    }
}
