//! The device contract: what every backend gives, and safe handles on top of it.
//!
//! A backend implements [`Driver`] (raw handles, a thin layer over the vendor's API) and names no field.
//! [`Device`], [`Buffer`], [`Stream`] and [`KernelSource`] own those handles and are what algorithms use.
//! CPU fallbacks live beside their algorithm (`msm/cpu.rs`, `ntt/cpu.rs`): they need no device.

mod buffer;
mod cache;
mod copies;
mod core;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod driver;
mod host;
#[cfg(feature = "opencl")]
pub mod opencl;
mod pace;
mod past_cache;
mod peers;
mod pool;
mod shared;
mod staging;
mod stream;
mod wait;

use std::fmt;

pub use buffer::Buffer;
pub(crate) use copies::{clear_all_past_cache, parallel_copy};
pub use device::Device;
pub(crate) use device::lock;
pub use driver::{
    Arg, Code, Driver, EventHandle, KernelHandle, KernelSource, LaunchShape, MemoryHandle, Pinned, StreamHandle,
};
pub use host::HostBuffer;
pub(crate) use peers::PeerMemory;
pub(crate) use pool::usable;
pub use stream::{Launch, Mark, Stream, Traffic};
pub use wait::{Abort, guarded};
pub(crate) use wait::{UPLOAD_PIECE, check_abort};

/// Where an operation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BackendKind {
    /// NVIDIA GPUs through the CUDA driver.
    Cuda,
    /// Any OpenCL device.
    OpenCl,
    /// The host's cores.
    Cpu,
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cuda => "cuda",
            Self::OpenCl => "opencl",
            Self::Cpu => "cpu",
        })
    }
}

impl std::str::FromStr for BackendKind {
    type Err = crate::Error;

    fn from_str(text: &str) -> crate::Result<Self> {
        match text.to_ascii_lowercase().as_str() {
            "cuda" => Ok(Self::Cuda),
            "opencl" => Ok(Self::OpenCl),
            "cpu" => Ok(Self::Cpu),
            other => Err(crate::Error::invalid("backend", "name", "cuda, opencl or cpu", other)),
        }
    }
}

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
