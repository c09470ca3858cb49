//! Defines the device interface that every backend implements, and safe handles on top of it.
//!
//! A backend implements [`Driver`] (raw handles, a thin layer over the vendor's API) and names no field. Algorithms use
//! [`Device`], [`Buffer`], [`Stream`] and [`KernelSource`], which own those handles. CPU fallbacks are in their
//! algorithm's module (`msm/cpu.rs`, `ntt/cpu.rs`): they need no device.

mod abort;
mod access_history;
mod allocator;
mod backend_kind;
mod budget_totals;
mod buffer;
mod command_queue;
#[cfg(feature = "cuda")]
pub mod cuda;
mod cuda_info;
mod device;
mod driver;
mod event;
mod first_launch;
mod fork_guard;
mod info;
mod launches;
mod memory_budget;
mod mutex;
mod nontemporal;
#[cfg(feature = "opencl")]
pub mod opencl;
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
mod stream_sync;
mod table_cache;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod two_rows;

#[cfg(test)]
mod tests;

pub(crate) use abort::check_abort;
pub use abort::{Abort, catch_hook_panic};
pub use backend_kind::BackendKind;
pub use buffer::Buffer;
pub use cuda_info::{CudaCard, CudaKernels};
pub use device::Device;
pub use driver::{
    Arg, Driver, EventHandle, KernelCode, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle,
};
pub use event::Event;
pub use info::DeviceInfo;
pub use launches::Launch;
pub use memory_budget::MemoryBudget;
pub(crate) use mutex::lock;
pub(crate) use parallel_copy::{par_zero_nontemporal, parallel_copy};
pub(crate) use peer_memory::PeerMemory;
pub use pinned_buffer::PinnedBuffer;
pub(crate) use pool::plannable_bytes;
pub use stream::Stream;
pub use stream_stats::StreamStats;
pub(crate) use stream_sync::ABORT_CHECK_BYTES;
#[cfg(any(feature = "cuda", feature = "opencl"))]
use two_rows::TwoRows;
