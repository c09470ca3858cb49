//! The stock crate's error.

use std::{error, fmt, io};

use halo2_axiom::plonk::Error;

/// Why there is no proof.
///
/// The stock crate has variants for CUDA beside this one. Here devices that fail give way to the next backend; where one is
/// forced, its error is the source of [`Error::Transcript`].
#[derive(Debug)]
#[non_exhaustive]
pub enum GpuError {
    /// An error of halo2-axiom's.
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
