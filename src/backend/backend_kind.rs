//! Names the backends.

use std::fmt;

/// Names a backend: the programming interface or processor that runs an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BackendKind {
    /// NVIDIA GPUs through the CUDA driver.
    Cuda,
    /// Any OpenCL device.
    OpenCl,
    /// The host's cores.
    Cpu,
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cuda => "cuda",
            Self::OpenCl => "opencl",
            Self::Cpu => "cpu",
        })
    }
}
