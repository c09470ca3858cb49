//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use proofwarp::BackendKind;

use crate::options::WorkOptions;

/// Proves a circuit with an unmodified bellperson on proofwarp, verifies the proof, and shows where each
/// phase ran and how long it took.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is
/// built; an OpenCL device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`.
#[derive(Debug, Parser)]
#[command(name = "groth16", after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub work: WorkOptions,
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Proves the same on stock ec-gpu-gen too, which is built for that, and shows both side by side
    #[arg(long)]
    pub compare: bool,
    /// How stock ec-gpu-gen is built for --compare; `auto` goes by what is installed
    #[arg(long, value_enum, default_value = "auto")]
    pub stock_backend: Backend,
    /// Compares with this program, which was built from examples/stock before
    #[arg(long, value_name = "PATH")]
    pub stock_binary: Option<PathBuf>,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  groth16                                         2^16 constraints of SHA-256
  groth16 --circuit x5 --log-constraints 20       full-size witness
  groth16 --circuit poseidon --backend opencl     on OpenCL or not at all
  groth16 --log-constraints 14 --compare          against stock ec-gpu-gen";

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
}
