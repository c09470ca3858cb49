//! Defines the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use proofwarp::BackendKind;

/// A multiplication, a transform, a batch of proofs and one proof by all ranks of an MPI job, each checked and timed.
///
/// Run it by mpirun with `--bind-to none`, so that a rank may use all cores; or alone, as a job of one rank.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Points of the multiplication, the binary logarithm
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=34))]
    pub log_points: u32,
    /// Elements of the transform, the binary logarithm
    #[arg(long, value_name = "N", default_value_t = 18, value_parser = clap::value_parser!(u32).range(0..=32))]
    pub log_elements: u32,
    /// Constraints of the proofs, the binary logarithm
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(2..=28))]
    pub log_constraints: u32,
    /// Proofs of the batch
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub proofs: usize,
    /// Folder of the batch's proofs, which a job started again takes up; a new one unless given
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Timed calls after the first
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub calls: u32,
    /// Which steps
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["msm", "ntt", "batch", "proof"])]
    pub only: Vec<Step>,
    /// Backend of every rank; any that is given is an error if it cannot do it all
    #[arg(long)]
    pub backend: Option<BackendKind>,
    // All ranks parse the line at once, so none may try the file here.
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Prints what the model of docs/scale.md says, and runs nothing
    #[arg(long)]
    pub predict: bool,
    /// Results of runs with `--json`, to which the model is fitted
    #[arg(long, value_name = "FILE", requires = "predict")]
    pub fit: Vec<PathBuf>,
}

/// A step by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// Multi-scalar multiplication
    Msm,
    /// Number-theoretic transform
    Ntt,
    /// Proofs handed out one by one
    Batch,
    /// One proof by all ranks
    Proof,
}
