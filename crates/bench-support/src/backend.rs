//! Defines backends on a command line.

use std::fmt;

use clap::ValueEnum;
use proofwarp::BackendKind;

/// A backend by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The best that there is
    Auto,
    /// NVIDIA GPUs
    Cuda,
    /// OpenCL devices
    Opencl,
    /// The processor
    Cpu,
}

impl fmt::Display for Backend {
    /// As the command line takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.forced() {
            Some(backend) => backend.fmt(f),
            None => f.write_str("auto"),
        }
    }
}

impl Backend {
    /// The backend that it forces, if it does.
    pub fn forced(self) -> Option<BackendKind> {
        match self {
            Self::Auto => None,
            Self::Cuda => Some(BackendKind::Cuda),
            Self::Opencl => Some(BackendKind::OpenCl),
            Self::Cpu => Some(BackendKind::Cpu),
        }
    }

    /// Returns the environment variable that forces the backend, if it is not `auto`.
    pub fn variables(self) -> Vec<(&'static str, String)> {
        self.forced().map(|backend| ("PROOFWARP_BACKEND", backend.to_string())).into_iter().collect()
    }
}
