//! Describes devices, the CUDA kernels of this build and the CUDA cards of this machine.

use super::{BackendKind, DeviceCaps};
use crate::{Error, Result};

/// Describes a device by its names, numbers and sizes.
#[derive(Debug, Clone)]
pub struct DeviceInfo {
    /// Backend that drives the device.
    pub backend: BackendKind,
    /// Number of the device within its backend, from 0 on.
    pub ordinal: usize,
    /// Name that the vendor's driver reports.
    pub name: String,
    /// Id that is stable across processes: a UUID or PCI bus address, else a digest of names and the device's number.
    pub unique_id: [u8; 16],
    /// PCI vendor id, such as 0x10de for NVIDIA; OpenCL's vendor id for devices that are not on PCI.
    pub vendor_id: u32,
    /// Numbers of the PCI bus and of the device on that bus, if the driver reports them.
    pub pci: Option<(u8, u8)>,
    /// Driver's own handle of the device: a `CUdevice` or a `cl_device_id`.
    pub native: usize,
    /// NVIDIA's compute capability (major, minor), such as (9, 0), if the driver reports it.
    pub compute_capability: Option<(u32, u32)>,
    /// Number of multiprocessors (CUDA) or compute units (OpenCL).
    pub compute_units: u32,
    /// Total device memory in bytes.
    pub memory: u64,
    /// Maximum bytes of local memory (CUDA: shared memory) per work-group in an ordinary launch.
    pub local_memory: u32,
    /// Whether the device is the host's processor, as an OpenCL device.
    pub is_cpu: bool,
    /// Capabilities of the device. Algorithms ask for these, not for the backend.
    pub caps: DeviceCaps,
}

impl DeviceInfo {
    /// Returns the backend and the name that reports give to the device `info`, or to the host if it is `None`.
    pub fn backend_and_name(info: Option<&Self>) -> (BackendKind, &str) {
        info.map_or((BackendKind::Cpu, "host"), |info| (info.backend, info.name.as_str()))
    }
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

/// Describes the CUDA kernels that this build compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaKernels {
    /// Reason why the build compiled no kernels; empty if it compiled them.
    pub note: &'static str,
    /// Architectures for which the kernels are compiled, such as 80 for compute capability 8.0. The build also
    /// contains PTX for the last one.
    pub architectures: &'static [u32],
    /// CUDA version (major, minor) of the compiler, such as (13, 0). A driver of an earlier major version does not
    /// load its code.
    pub compiler: Option<(u32, u32)>,
    /// Number of compiled kernel modules.
    pub modules: usize,
}

/// Describes a GPU that the CUDA driver lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaCard {
    /// Name that the driver reports.
    pub name: String,
    /// Compute capability (major, minor), such as (9, 0).
    pub capability: (u32, u32),
    /// Whether this build has kernels that run on the GPU.
    pub is_served: bool,
}
