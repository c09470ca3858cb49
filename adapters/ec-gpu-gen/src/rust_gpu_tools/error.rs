//! Defines errors of devices, with the variants of the crate `rust-gpu-tools`.

use std::fmt;

/// Holds the value of a call to a device, or its [`GPUError`].
pub(crate) type GPUResult<T> = std::result::Result<T, GPUError>;

/// Describes why a call to a device failed.
///
/// A missing kernel becomes [`GPUError::KernelNotFound`]. Any other error of proofwarp becomes [`GPUError::Generic`],
/// with its text.
#[derive(thiserror::Error, Debug)]
#[allow(clippy::upper_case_acronyms)] // The name is part of the interface.
pub enum GPUError {
    /// OpenCL failed, with the compiler's log if there is one.
    #[cfg(feature = "opencl")]
    #[error("{status}{log}", status = .0, log = .1.as_ref().map(|log| format!(" {log}")).unwrap_or_default())]
    Opencl3(ClError, Option<String>),
    /// OpenCL gives no information about a program.
    #[cfg(feature = "opencl")]
    #[error("Program info not available!")]
    ProgramInfoNotAvailable(ClError),
    /// OpenCL gives no information about a device.
    #[cfg(feature = "opencl")]
    #[error("Device info not available!")]
    DeviceInfoNotAvailable(ClError),
    /// CUDA failed.
    #[cfg(feature = "cuda")]
    #[error("{0}")]
    Cuda(#[from] CudaError),
    /// There is no such device.
    #[error("Device not found!")]
    DeviceNotFound,
    /// There is no kernel of that name.
    #[error("Kernel with name {0} not found!")]
    KernelNotFound(String),
    /// Input or output failed.
    #[error("IO Error: {0}")]
    IO(#[from] std::io::Error),
    /// The device's vendor is not supported.
    #[error("Vendor {0} is not supported.")]
    UnsupportedVendor(String),
    /// A text is not a unique identifier.
    #[error("{0}")]
    InvalidId(String),
    /// Any other error.
    #[error("{0}")]
    Generic(String),
}

#[cfg(feature = "opencl")]
impl From<ClError> for GPUError {
    fn from(error: ClError) -> Self {
        Self::Opencl3(error, None)
    }
}

impl From<proofwarp::Error> for GPUError {
    fn from(error: proofwarp::Error) -> Self {
        match error {
            proofwarp::Error::NoKernel { name, .. } => Self::KernelNotFound(name),
            other => Self::Generic(other.to_string()),
        }
    }
}

/// Holds a status code of OpenCL.
#[cfg(feature = "opencl")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClError(pub i32);

#[cfg(feature = "opencl")]
impl fmt::Display for ClError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenCL failed with status {}", self.0)
    }
}

#[cfg(feature = "opencl")]
impl std::error::Error for ClError {}

/// Holds a status code of CUDA.
#[cfg(feature = "cuda")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CudaError(pub u32);

#[cfg(feature = "cuda")]
impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUDA failed with status {}", self.0)
    }
}

#[cfg(feature = "cuda")]
impl std::error::Error for CudaError {}
