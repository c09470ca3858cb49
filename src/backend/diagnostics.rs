//! Describes what the backends find in this build and on this machine, for diagnostics and error texts.

use std::path::PathBuf;

use super::{CudaCard, CudaKernels};
use crate::Result;

/// Returns a description of the CUDA kernels in this build, or `None` without the feature `cuda`.
pub fn cuda_kernels() -> Option<CudaKernels> {
    #[cfg(feature = "cuda")]
    {
        Some(super::cuda::kernel_build_info())
    }
    #[cfg(not(feature = "cuda"))]
    {
        None
    }
}

/// Returns the reason why the build has no CUDA kernels for the module of carry-less multiply-add named `module`.
/// Returns `None` if it has them.
#[allow(clippy::unnecessary_wraps, reason = "without the feature there is always a reason")]
pub(crate) fn missing_clmad_reason(module: &str) -> Option<&'static str> {
    #[cfg(feature = "cuda")]
    {
        (!super::cuda::has_kernels(module)).then_some(super::cuda::CLMAD_NOTE)
    }
    #[cfg(not(feature = "cuda"))]
    {
        let _ = module;
        Some("none without the feature cuda")
    }
}

/// Returns the CUDA version that the driver supports, major and minor, such as (13, 0). Returns `None` without a
/// driver, or without the feature `cuda`.
pub fn cuda_driver() -> Option<(u32, u32)> {
    #[cfg(feature = "cuda")]
    {
        super::cuda::driver_version()
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
        super::cuda::list_cards()
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
        Some(super::opencl::has_library())
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
pub fn opencl_cache() -> Result<Option<PathBuf>> {
    #[cfg(feature = "opencl")]
    {
        super::opencl::cache_folder()
    }
    #[cfg(not(feature = "opencl"))]
    {
        Ok(None)
    }
}
