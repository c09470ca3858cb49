//! The error type, with the variants of the crate that this one stands in for.

use std::io;

use crate::rust_gpu_tools::GPUError;

/// What went wrong.
#[derive(thiserror::Error, Debug)]
pub enum EcError {
    /// An error that a fixed text describes.
    #[error("EcError: {0}")]
    Simple(&'static str),

    /// The caller's abort hook returned true; inputs are as they were.
    #[error("GPU call was aborted!")]
    Aborted,

    /// A device failed, or was given something that it cannot compute; inputs are as they were.
    #[error("GPU tools error: {0}")]
    GpuTools(#[from] GPUError),

    /// Input or output failed.
    #[error("Encountered an I/O error: {0}")]
    Io(#[from] io::Error),
}

/// Result of this crate's calls.
pub type EcResult<T> = std::result::Result<T, EcError>;

impl From<proofwarp::Error> for EcError {
    fn from(error: proofwarp::Error) -> Self {
        match error {
            proofwarp::Error::Aborted => Self::Aborted,
            other => Self::GpuTools(other.into()),
        }
    }
}
