//! Defines the device interface that every backend implements, and safe handles on top of it.
//!
//! A backend implements [`Driver`] (raw handles, a thin layer over the vendor's API) and names no field. Algorithms use
//! [`Device`], [`Buffer`], [`Stream`] and [`KernelSource`], which own those handles. CPU fallbacks are in their
//! algorithm's module (`msm/cpu.rs`, `ntt/cpu.rs`): they need no device.

mod abort;
mod aims;
mod allocator;
mod buffer;
mod command_queue;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod driver;
mod event;
mod first_launch;
mod found;
mod info;
mod kind;
mod launches;
mod lock;
mod memory_budget;
mod nontemporal;
#[cfg(feature = "opencl")]
pub mod opencl;
mod own_process;
mod parallel_copy;
mod peer_copy;
mod peer_memory;
mod pinned_buffer;
mod pinned_upload;
mod pool;
mod queue_limit;
mod staging;
mod stream;
mod stream_inner;
mod stream_stats;
mod table_cache;
mod uses;
mod wait;

#[cfg(test)]
mod tests;

pub(crate) use abort::check_abort;
pub use abort::{Abort, catch_hook_panic};
pub use buffer::Buffer;
pub use device::Device;
pub use driver::{
    Arg, Driver, EventHandle, KernelCode, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle,
};
pub use event::Event;
pub use found::{CudaCard, CudaKernels};
pub use info::DeviceInfo;
pub use kind::BackendKind;
pub use launches::Launch;
pub(crate) use lock::lock;
pub use memory_budget::MemoryBudget;
pub(crate) use parallel_copy::{par_zero_nontemporal, parallel_copy};
pub(crate) use peer_memory::PeerMemory;
pub use pinned_buffer::PinnedBuffer;
pub(crate) use pool::plannable_bytes;
pub use stream::Stream;
pub use stream_stats::StreamStats;
pub(crate) use wait::ABORT_CHECK_BYTES;
