//! Provides devices, programs, buffers and kernels by name, under the names that the crate `rust-gpu-tools` gives them.
//!
//! Only the names in [`cuda`] are CUDA's, because callers know no others. The module runs on any backend.

pub mod cuda;
mod device;
mod error;
mod program;
mod queue;

pub use crate::program_closures;
pub use cuda::LocalBuffer;
pub use device::Device;
pub use error::GPUError;
pub use program::Program;
