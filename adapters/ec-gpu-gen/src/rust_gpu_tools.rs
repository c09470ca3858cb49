//! Provides devices and programs under the names that the crate `rust-gpu-tools` 0.7 gives them.
//!
//! Devices are proofwarp's: all of one backend that the process can use, and only of frameworks whose features this
//! crate was built with. Kernels that a crate appended itself run through [`Program`] on the same devices, in the
//! memory and on the streams that proofwarp's own kernels use.

mod accelerator;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod env;
mod error;
mod handle;
mod ids;
#[cfg(feature = "opencl")]
pub mod opencl;
mod program;
mod user_kernels;

pub use crate::program_closures;
pub use device::Device;
#[cfg(feature = "opencl")]
pub use error::ClError;
#[cfg(feature = "cuda")]
pub use error::CudaError;
pub use error::GPUError;
pub use ids::{DeviceUuid, Framework, PciId, UniqueId, Vendor};
pub use program::Program;
pub(crate) use program::accelerator_from_programs;
pub use user_kernels::LocalBuffer;
