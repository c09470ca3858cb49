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

    /// The caller's abort hook returned true. The inputs are unchanged.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    #[error("GPU call was aborted!")]
    Aborted,

    /// A device failed, or rejected its input. The caller's inputs are unchanged.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    #[error("GPU tools error: {0}")]
    GpuTools(#[from] GPUError),

    /// Input or output failed, or there are too few bases.
    #[error("Encountered an I/O error: {0}")]
    Io(#[from] io::Error),
}

/// Holds the value of a call to this crate, or its [`EcError`].
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
