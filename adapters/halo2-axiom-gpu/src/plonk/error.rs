//! Defines the stock crate's error type.

use std::{error, fmt, io};

use halo2_axiom::plonk::Error;

/// Describes why a proof could not be made.
///
/// The stock crate has further variants, for CUDA. Here, if a device fails, the next backend takes over. If the backend
/// is forced, its error is the source of [`Error::Transcript`].
#[derive(Debug)]
#[non_exhaustive]
pub enum GpuError {
    /// An error of halo2-axiom.
    Canonical(Error),
}

impl From<Error> for GpuError {
    fn from(error: Error) -> Self {
        Self::Canonical(error)
    }
}

impl From<io::Error> for GpuError {
    fn from(error: io::Error) -> Self {
        Self::Canonical(error.into())
    }
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Canonical(error) => error.fmt(f),
        }
    }
}

impl error::Error for GpuError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Canonical(error) => error.source(),
        }
    }
}
