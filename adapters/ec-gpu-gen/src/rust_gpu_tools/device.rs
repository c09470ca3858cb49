//! The devices that this crate's callers see.

use std::sync::{Arc, LazyLock};

use proofwarp::BackendKind;

use super::accelerator::accelerator;
#[cfg(feature = "cuda")]
use super::cuda;
use super::handle::Handle;
#[cfg(feature = "opencl")]
use super::opencl;
use super::wishes::is_forced;
use super::{DeviceUuid, Framework, PciId, UniqueId, Vendor};

/// All devices of the backend in use, or why there are none.
pub(super) static DEVICES: LazyLock<Result<Vec<Device>, String>> = LazyLock::new(|| {
    let accelerator = accelerator().map_err(|error| {
        log::error!("No working GPUs found! {error}");
        error.to_string()
    })?;
    if accelerator.devices().is_empty() && accelerator.forced().is_none() {
        log::warn!("No working GPUs found! {}", accelerator.absent().join("; "));
    }
    Ok(accelerator.devices().iter().map(|device| Device(Handle(device.clone()))).collect())
});

/// A device that proofwarp can use.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Device(pub(super) Handle);

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
        match id {
            UniqueId::PciId(id) => Self::by_pci_id(id),
            UniqueId::Uuid(uuid) => Self::by_uuid(uuid),
        }
    }

    /// The device of that identifier.
    pub fn by_uuid(uuid: DeviceUuid) -> Option<&'static Self> {
        Self::all().into_iter().find(|device| device.0.uuid() == uuid)
    }

    /// The device at that place of the PCI bus.
    pub fn by_pci_id(id: PciId) -> Option<&'static Self> {
        Self::all().into_iter().find(|device| device.0.pci_id() == id)
    }

    /// Who made it.
    pub fn vendor(&self) -> Vendor {
        self.0.vendor()
    }

    /// The vendor's name for it.
    pub fn name(&self) -> String {
        self.0.info().name.clone()
    }

    /// Total memory in bytes.
    pub fn memory(&self) -> u64 {
        self.0.info().memory
    }

    /// Multiprocessors or compute units.
    pub fn compute_units(&self) -> u32 {
        self.0.info().compute_units
    }

    /// The compute capability of NVIDIA's devices.
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        self.0.info().compute_capability
    }

    /// What tells it apart from others.
    pub fn unique_id(&self) -> UniqueId {
        UniqueId::Uuid(self.0.uuid())
    }

    /// How it is reached.
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

    /// The device as CUDA has it, if it has and `PROOFWARP_BACKEND` forces no other.
    #[cfg(feature = "cuda")]
    pub fn cuda_device(&self) -> Option<&cuda::Device> {
        cuda::DEVICES.iter().find(|device| device.handle.is(&self.0))
    }

    /// The device as OpenCL has it, if it has and `PROOFWARP_BACKEND` forces no other.
    #[cfg(feature = "opencl")]
    pub fn opencl_device(&self) -> Option<&opencl::Device> {
        opencl::DEVICES.iter().find(|device| device.handle.is(&self.0))
    }

    /// The device as proofwarp has it.
    pub fn proofwarp(&self) -> &Arc<proofwarp::backend::Device> {
        &self.0.0
    }
}
