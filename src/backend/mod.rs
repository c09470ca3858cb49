//! Defines the device interface that every backend implements, and safe handles on top of it.
//!
//! A backend implements [`Driver`] (raw handles, a thin layer over the vendor's API) and names no field. Algorithms use
//! [`Device`], [`Buffer`], [`Stream`] and [`KernelSource`], which own those handles. CPU fallbacks are in their
//! algorithm's module (`msm/one_shot.rs`, `ntt/cpu/mod.rs`): they need no device.

mod abort_hook;
mod backend_factory;
mod backend_kind;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod device_caps;
mod device_info;
mod diagnostics;
mod driver;
mod factories;
mod fork_checked_driver;
mod host_copies;
mod memory;
mod mutex;
#[cfg(feature = "opencl")]
pub mod opencl;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use abort_hook::HookGuard;
pub(crate) use abort_hook::check_abort;
pub use abort_hook::{Abort, catch_hook_panic};
pub(crate) use backend_factory::BackendFactory;
pub use backend_kind::BackendKind;
pub use device::Device;
pub use device_caps::DeviceCaps;
pub(crate) use device_caps::UNIFIED_ALIGN;
pub use device_info::{CudaCard, CudaKernels, DeviceInfo};
pub(crate) use diagnostics::missing_clmad_reason;
pub use diagnostics::{cuda_cards, cuda_driver, cuda_kernels, opencl_cache, opencl_library};
pub use driver::{
    Arg, Driver, EventHandle, KernelCode, KernelHandle, KernelSource, LaunchConfig, MemoryHandle, PinnedAlloc,
    StreamHandle,
};
pub(crate) use factories::backend_factories;
pub use host_copies::PinnedBuffer;
pub(crate) use host_copies::{par_zero_nontemporal, parallel_copy};
pub use memory::{Buffer, ForeignMemory, MemoryBudget};
pub(crate) use memory::{PeerMemory, ResidentBytes, plannable_bytes};
pub(crate) use mutex::lock;
pub(crate) use stream::ABORT_CHECK_BYTES;
pub use stream::{Event, Launch, Stream, StreamStats};

#[cfg(any(feature = "cuda", feature = "opencl"))]
use host_copies::TwoRows;
