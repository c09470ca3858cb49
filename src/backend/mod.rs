//! Defines the device interface that every backend implements, and safe handles on top of it.
//!
//! A backend implements [`Driver`] (raw handles, a thin layer over the vendor's API) and names no field. Algorithms use
//! [`Device`], [`Buffer`], [`Stream`] and [`KernelSource`], which own those handles. CPU fallbacks are in their
//! algorithm's module (`msm/cpu.rs`, `ntt/cpu.rs`): they need no device.

mod abort;
mod across;
mod aim;
mod aims;
mod buffer;
mod cache;
mod copies;
mod core;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod driver;
mod found;
mod host;
mod host_uploads;
mod info;
mod kind;
mod launches;
mod lock;
mod mark;
#[cfg(feature = "opencl")]
pub mod opencl;
mod own_process;
mod pace;
mod past_cache;
mod peers;
mod pool;
mod queue;
mod shared;
mod specialised;
mod staging;
mod stream;
mod traffic;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod two_rows;
mod uses;
mod wait;

#[cfg(test)]
mod tests;

pub(crate) use abort::check_abort;
pub use abort::{Abort, guarded};
pub use aim::Aim;
pub use buffer::Buffer;
pub(crate) use copies::{clear_all_past_cache, parallel_copy};
pub use device::Device;
pub use driver::{
    Arg, Code, Driver, EventHandle, KernelHandle, KernelSource, LaunchShape, MemoryHandle, Pinned, StreamHandle,
};
pub use found::{CudaCard, CudaKernels};
pub use host::HostBuffer;
pub use info::DeviceInfo;
pub use kind::BackendKind;
pub use launches::Launch;
pub(crate) use lock::lock;
pub use mark::Mark;
pub(crate) use peers::PeerMemory;
pub(crate) use pool::usable;
pub use stream::Stream;
pub use traffic::Traffic;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use two_rows::TwoRows;
pub(crate) use wait::UPLOAD_PIECE;
