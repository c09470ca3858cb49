//! The command line.

#[path = "backend.rs"]
mod backend;

use std::path::PathBuf;

use clap::Parser;

pub use backend::Backend;

use crate::options::WorkOptions;
use crate::ways::{Adapter, Against};

/// Proves a circuit of bellperson's on proofwarp, verifies the proof, and shows where each phase ran and how long it
/// took.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is
/// built; an OpenCL device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`.
#[derive(Debug, Parser)]
#[command(name = "groth16", after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub work: WorkOptions,
    /// How proofwarp is used
    #[arg(long, value_enum, default_value = "ec-gpu-gen")]
    pub adapter: Adapter,
    /// Proves the same in another way too, and shows both side by side
    #[arg(long, value_enum)]
    pub against: Option<Against>,
    /// Times each step of a proof on the resident pipeline alone too, on the first device
    #[arg(long)]
    pub steps: bool,
    /// Times how long the key takes from its mapped file to the first device too, decoded there or on the host
    #[arg(long)]
    pub mapped: bool,
    /// Number of GPUs; all without it [NVIDIA's: the others are hidden by `CUDA_VISIBLE_DEVICES`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub devices: Option<u32>,
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Proves the same on stock ec-gpu-gen too, which is built for that: `--against stock`, beside another
    #[arg(long)]
    pub compare: bool,
    /// How stock ec-gpu-gen is built for --compare; `auto` goes by what is installed
    #[arg(long, value_enum, default_value = "auto")]
    pub stock_backend: Backend,
    /// Compares with this program, which was built from examples/stock before
    #[arg(long, value_name = "PATH")]
    pub stock_binary: Option<PathBuf>,
    /// Proves by cuda-supraseal with this program, which was built from examples/supraseal or supraseal-published
    /// before; several are separated by commas
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub supraseal_binary: Vec<PathBuf>,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  groth16                                         2^16 constraints of SHA-256
  groth16 --circuit x5 --log-constraints 20       full-size witness
  groth16 --circuit poseidon --backend opencl     on OpenCL or not at all
  groth16 --log-constraints 14 --compare          against stock ec-gpu-gen
  groth16 --adapter resident --batch 4            key on the device, four proofs at once
  groth16 --adapter resident --against ec-gpu-gen --compare
  groth16 --adapter supraseal --against resident  bellperson's cuda-supraseal on the drop-in";

impl Options {
    /// The adapters to measure, the one that was asked for first.
    pub fn adapters(&self) -> Vec<Adapter> {
        let other = self.against.and_then(Against::adapter).filter(|other| *other != self.adapter);
        std::iter::once(self.adapter).chain(other).collect()
    }

    /// Whether bellperson's other prover is measured.
    pub fn supraseal(&self) -> bool {
        self.adapters().contains(&Adapter::Supraseal) || !self.supraseal_binary.is_empty()
    }

    /// Whether the stock crate is measured too.
    pub fn stock(&self) -> bool {
        self.compare || self.stock_binary.is_some() || self.against == Some(Against::Stock)
    }
}
