//! What is known of a device, and the backends by name.

use super::BackendKind;
use crate::{Error, Result};

/// What is known of a device without running anything on it.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// The backend that reaches it.
    pub backend: BackendKind,
    /// Its number within the backend.
    pub ordinal: usize,
    /// The vendor's name for it.
    pub name: String,
    /// Stable over processes: a UUID, or bus address, or else the backend and number.
    pub unique_id: [u8; 16],
    /// The vendor's number on the PCI bus, such as 0x10de for NVIDIA; what OpenCL says where the device is on none.
    pub vendor_id: u32,
    /// Numbers of its bus and of itself on that, where the driver tells.
    pub pci: Option<(u8, u8)>,
    /// The driver's own handle of it: a `CUdevice` or a `cl_device_id`.
    pub native: usize,
    /// NVIDIA's compute capability, such as (9, 0), where the driver tells.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors or compute units.
    pub compute_units: u32,
    /// Total memory in bytes.
    pub memory: u64,
    /// Memory local to a work-group, in bytes, as an ordinary launch may use it.
    pub local_memory: u32,
    /// True for an OpenCL device that is the host's processor.
    pub is_cpu: bool,
}

impl std::str::FromStr for BackendKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "cuda" => Ok(Self::Cuda),
            "opencl" => Ok(Self::OpenCl),
            "cpu" => Ok(Self::Cpu),
            other => Err(Error::invalid("backend", "name", "cuda, opencl or cpu", other)),
        }
    }
}
