//! Options that `proofwarp bench groth16` shares with the programs that prove the same on other crates.

use std::ffi::OsString;
use std::path::PathBuf;

use super::circuits::Kind;

/// What to prove and how often.
#[derive(Debug, Clone, clap::Args)]
pub struct WorkOptions {
    /// The circuit
    #[arg(long, value_enum, default_value = "sha")]
    pub circuit: Kind,
    /// Binary logarithm of the largest number of constraints, and of the domain's size
    #[arg(long, value_name = "K", default_value_t = 16, value_parser = clap::value_parser!(u32).range(10..=22))]
    pub log_constraints: u32,
    /// Timed batches, after one to warm up; times are those of the median
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub proofs: u32,
    /// Proofs of a batch, each of a witness of its own; times are those of the whole batch
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// Seeds the witness, the parameters and the randomisation of the proof, so that runs can be compared
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder of the parameters' cache [default: proofwarp/parameters in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub parameters: Option<PathBuf>,
}

impl WorkOptions {
    /// Returns the same options as arguments of another program.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![
            format!("--circuit={}", self.circuit.name()).into(),
            format!("--log-constraints={}", self.log_constraints).into(),
            format!("--proofs={}", self.proofs).into(),
            format!("--seed={}", self.seed).into(),
        ];
        // A program that was built before there were batches can still make single proofs.
        if self.batch > 1 {
            arguments.push(format!("--batch={}", self.batch).into());
        }
        if let Some(folder) = &self.parameters {
            arguments.extend(["--parameters".into(), folder.into()]);
        }
        arguments
    }
}
