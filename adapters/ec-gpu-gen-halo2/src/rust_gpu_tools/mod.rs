//! Devices, programs, buffers and kernels by name, under the names that the crate `rust-gpu-tools` gives them.
//!
//! What is in [`cuda`] has CUDA's names alone: callers know no others. It runs on whatever backend there is.

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
