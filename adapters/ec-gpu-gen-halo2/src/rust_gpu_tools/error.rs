//! Defines errors of devices, with the variants of the crate `rust-gpu-tools` that callers see.

/// Holds the value of a call to a device, or its [`GPUError`].
pub(crate) type GPUResult<T> = std::result::Result<T, GPUError>;

/// Tells why a call to a device failed.
///
/// Errors of proofwarp become [`GPUError::Generic`] with their text, except a missing kernel, which becomes
/// [`GPUError::KernelNotFound`].
#[derive(thiserror::Error, Debug)]
#[allow(clippy::upper_case_acronyms, reason = "the name is part of the interface")]
pub enum GPUError {
    /// There is no such device.
    #[error("Device not found!")]
    DeviceNotFound,
    /// There is no kernel of that name.
    #[error("Kernel with name {0} not found!")]
    KernelNotFound(String),
    /// Any other error.
    #[error("{0}")]
    Generic(String),
}

impl From<proofwarp::Error> for GPUError {
    fn from(error: proofwarp::Error) -> Self {
        match error {
            proofwarp::Error::NoKernel { name, .. } => Self::KernelNotFound(name),
            other => Self::Generic(other.to_string()),
        }
    }
}
