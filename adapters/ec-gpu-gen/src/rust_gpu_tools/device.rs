//! The devices that this crate's callers see.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use proofwarp::BackendKind;
use proofwarp::backend::DeviceInfo;

#[cfg(feature = "cuda")]
use super::cuda;
#[cfg(feature = "opencl")]
use super::opencl;
use super::{DEVICES, DeviceUuid, Framework, PciId, UniqueId, Vendor, is_forced};

/// A device of proofwarp's, and what the interface tells of each.
#[derive(Clone, Debug)]
pub(super) struct Handle(pub(super) Arc<proofwarp::backend::Device>);

impl Handle {
    pub(super) fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    pub(super) fn vendor(&self) -> Vendor {
        Vendor::try_from(self.info().vendor_id).unwrap_or(Vendor::Amd)
    }

    /// Its place on the bus, or, as in the stock crate, one that is easily told from those.
    pub(super) fn pci_id(&self) -> PciId {
        const NONE: u16 = 0x1234;
        let info = self.info();
        let place = info.pci.map(|(bus, device)| u16::from_be_bytes([bus, device]));
        PciId::from(place.unwrap_or(NONE.wrapping_add(info.ordinal as u16)))
    }

    pub(super) fn uuid(&self) -> DeviceUuid {
        DeviceUuid::from(self.info().unique_id)
    }

    /// Whether the other is the same device, maybe of another backend, which may know it by its place only. Of one backend
    /// several may be at one place, as parts of a GPU.
    fn is(&self, other: &Self) -> bool {
        let (one, two) = (self.info(), other.info());
        self == other || one.backend != two.backend && one.pci.is_some() && one.pci == two.pci
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Self) -> bool {
        self.info().unique_id == other.info().unique_id
    }
}

impl Eq for Handle {}

impl Hash for Handle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.info().unique_id.hash(state);
    }
}

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
