//! Defines the error type, with the variants of the crate that this one replaces.

use std::io;

use crate::rust_gpu_tools::GPUError;

/// Tells why a call failed.
#[derive(thiserror::Error, Debug)]
pub enum EcError {
    /// An error that a fixed text describes.
    #[error("EcError: {0}")]
    Simple(&'static str),

    /// The caller's abort hook returned true. The inputs are unchanged.
    #[error("GPU call was aborted!")]
    Aborted,

    /// A device failed, or got input that it cannot compute. The caller's inputs are unchanged.
    #[error("GPU tools error: {0}")]
    GpuTools(#[from] GPUError),

    /// Input or output failed.
    #[error("Encountered an I/O error: {0}")]
    Io(#[from] io::Error),
}

/// Holds the value of a call to this crate, or its [`EcError`].
pub type EcResult<T> = std::result::Result<T, EcError>;

impl From<proofwarp::Error> for EcError {
    fn from(error: proofwarp::Error) -> Self {
        match error {
            proofwarp::Error::Aborted => Self::Aborted,
            other => Self::GpuTools(other.into()),
        }
    }
}
