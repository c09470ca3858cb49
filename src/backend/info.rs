//! Describes devices, and parses the names of backends.

use super::BackendKind;
use crate::{Error, Result};

/// Describes a device, without running anything on it.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// Backend that reaches it.
    pub backend: BackendKind,
    /// Its number within the backend.
    pub ordinal: usize,
    /// The vendor's name for it.
    pub name: String,
    /// Id that is stable over processes: a UUID or bus address, else made from the backend and number.
    pub unique_id: [u8; 16],
    /// PCI vendor id, such as 0x10de for NVIDIA; OpenCL's vendor id for devices that are not on PCI.
    pub vendor_id: u32,
    /// Numbers of its PCI bus and of the device on the bus, if the driver tells them.
    pub pci: Option<(u8, u8)>,
    /// Driver's own handle: a `CUdevice` or a `cl_device_id`.
    pub native: usize,
    /// NVIDIA's compute capability, such as (9, 0), if the driver tells it.
    pub compute_capability: Option<(u32, u32)>,
    /// Multiprocessors or compute units.
    pub compute_units: u32,
    /// Total memory in bytes.
    pub memory: u64,
    /// Memory local to a work-group, in bytes, for an ordinary launch.
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
