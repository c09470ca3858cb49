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

use std::path::PathBuf;

pub use crate::backend::{CudaCard, CudaKernels};

/// Returns a description of the CUDA kernels in this build, or `None` without the feature `cuda`.
pub fn cuda_kernels() -> Option<CudaKernels> {
    #[cfg(feature = "cuda")]
    {
        Some(crate::backend::cuda::kernel_build_info())
    }
    #[cfg(not(feature = "cuda"))]
    {
        None
    }
}

/// Returns the CUDA version that the driver supports, major and minor, such as (13, 0). Returns `None` without a
/// driver, or without the feature `cuda`.
pub fn cuda_driver() -> Option<(u32, u32)> {
    #[cfg(feature = "cuda")]
    {
        crate::backend::cuda::driver_version()
    }
    #[cfg(not(feature = "cuda"))]
    {
        None
    }
}

/// Returns the CUDA devices that the driver lists. The list is empty without a driver, or without the feature `cuda`.
pub fn cuda_cards() -> Vec<CudaCard> {
    #[cfg(feature = "cuda")]
    {
        crate::backend::cuda::list_cards()
    }
    #[cfg(not(feature = "cuda"))]
    {
        Vec::new()
    }
}

/// Returns whether the system's OpenCL library was found, or `None` without the feature `opencl`.
pub fn opencl_library() -> Option<bool> {
    #[cfg(feature = "opencl")]
    {
        Some(crate::backend::opencl::has_library())
    }
    #[cfg(not(feature = "opencl"))]
    {
        None
    }
}

/// Returns the folder that caches compiled OpenCL programs. Returns `None` if there is none, or without the feature
/// `opencl`.
///
/// # Errors
/// - [`Error::Invalid`](crate::Error::Invalid): a setting of the environment is malformed.
pub fn opencl_cache() -> crate::Result<Option<PathBuf>> {
    #[cfg(feature = "opencl")]
    {
        crate::backend::opencl::cache_folder()
    }
    #[cfg(not(feature = "opencl"))]
    {
        Ok(None)
    }
}
