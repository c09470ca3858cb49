//! Defines the device interface that every backend implements, and safe handles on top of it.
//!
//! A backend implements [`Driver`] (raw handles, a thin layer over the vendor's API) and names no field. Algorithms use
//! [`Device`], [`Buffer`], [`Stream`] and [`KernelSource`], which own those handles. CPU fallbacks are in their
//! algorithm's module (`msm/cpu.rs`, `ntt/cpu.rs`): they need no device.

mod abort_hook;
mod abortable_waits;
mod access_history;
mod allocator;
mod backend_kind;
mod budget_totals;
#[cfg(feature = "cuda")]
pub mod cuda;
mod cuda_build_info;
mod device;
mod device_buffer;
mod driver;
mod event;
mod first_launch_lock;
mod fork_guard;
mod info;
mod launches;
mod memory_budget;
mod mutex;
mod nontemporal;
#[cfg(feature = "opencl")]
pub mod opencl;
mod owned_queue;
mod parallel_copy;
mod peer_copy;
mod peer_memory;
mod pinned_buffer;
mod pinned_upload;
mod pool;
mod queued_time_limit;
mod staging;
mod stream;
mod stream_inner;
mod stream_stats;
mod table_cache;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod two_row_split;

#[cfg(test)]
mod tests;

pub(crate) use abort_hook::check_abort;
pub use abort_hook::{Abort, catch_hook_panic};
pub(crate) use abortable_waits::ABORT_CHECK_BYTES;
pub use backend_kind::BackendKind;
pub use cuda_build_info::{CudaCard, CudaKernels};
pub use device::Device;
pub use device_buffer::Buffer;
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
#[cfg(any(feature = "cuda", feature = "opencl"))]
use two_row_split::TwoRows;
