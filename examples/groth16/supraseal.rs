//! The same proof through bellperson's other prover, its feature `cuda-supraseal`, by a program of its own.

use std::path::{Path, PathBuf};

use crate::cli::Options;
use crate::outcome::Outcome;
use crate::{Failure, child};

/// The programs that were named, or else one on the drop-in for supraseal-c2, which is built.
///
/// # Errors
/// It cannot be built.
pub fn programs(options: &Options) -> Result<Vec<PathBuf>, Failure> {
    match options.supraseal_binary.as_slice() {
        [] => Ok(vec![drop_in().build()?]),
        named => Ok(named.to_vec()),
    }
}

/// Proves by a program that was built before.
///
/// # Errors
/// It cannot be run, or says nothing that can be read.
pub fn run(program: &Path, options: &Options) -> Result<Outcome, Failure> {
    // Its engine reads what was set for this one from the environment.
    child::run(program, options, |_| ())
}

/// The drop-in, with the backends of this program.
fn drop_in() -> child::Program<'static> {
    child::Program {
        example: "supraseal",
        proves_on: "the drop-in for supraseal-c2",
        feature: cfg!(feature = "cuda").then_some("cuda"),
        target: if cfg!(feature = "cuda") { "groth16-supraseal-cuda" } else { "groth16-supraseal" },
        variables: Vec::new(),
    }
}
