//! Describes this build and this machine, for programs that explain why a device is not used. Operations do not need
//! it.
//!
//! ```
//! use proofwarp::inspect;
//!
//! match inspect::cuda_kernels() {
//!     None => println!("built without the feature cuda"),
//!     Some(kernels) if !kernels.note.is_empty() => println!("no CUDA kernels: {}", kernels.note),
//!     Some(kernels) => println!("{} modules for {:?}", kernels.modules, kernels.architectures),
//! }
//! println!("the CUDA driver: {:?}; OpenCL's library: {:?}", inspect::cuda_driver(), inspect::opencl_library());
//! ```

pub use crate::backend::{CudaCard, CudaKernels, cuda_cards, cuda_driver, cuda_kernels, opencl_cache, opencl_library};
