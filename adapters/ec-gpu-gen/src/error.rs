//! Defines the error type, with the stock crate's variants.

use std::io;

#[cfg(any(feature = "cuda", feature = "opencl"))]
use crate::rust_gpu_tools::GPUError;

/// Describes why a call failed.
#[derive(thiserror::Error, Debug)]
pub enum EcError {
    /// An error that a fixed text describes.
    #[error("EcError: {0}")]
    Simple(&'static str),

    /// The caller's abort hook returned true; inputs are unchanged.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    #[error("GPU call was aborted!")]
    Aborted,

    /// A device failed, or cannot compute its input; inputs are unchanged.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    #[error("GPU tools error: {0}")]
    GpuTools(#[from] GPUError),

    /// Input or output failed, or there are too few bases.
    #[error("Encountered an I/O error: {0}")]
    Io(#[from] io::Error),
}

/// Result that this crate's calls return.
pub type EcResult<T> = std::result::Result<T, EcError>;

#[cfg(any(feature = "cuda", feature = "opencl"))]
impl From<proofwarp::Error> for EcError {
    fn from(error: proofwarp::Error) -> Self {
        match error {
            proofwarp::Error::Aborted => Self::Aborted,
            other => Self::GpuTools(GPUError::Generic(other.to_string())),
        }
    }
}
