//! The same proof through bellperson's other prover, its feature `cuda-supraseal`, by a program of its own.

use std::path::Path;

use crate::cli::Options;
use crate::outcome::Outcome;
use crate::{Failure, child};

/// Proves by the programs that were named, or else by one on the drop-in for supraseal-c2, which is built first.
///
/// # Errors
/// A program cannot be built or run, or says nothing that can be read.
pub fn run(options: &Options) -> Result<Vec<Outcome>, Failure> {
    let mut programs = options.supraseal_binary.clone();
    if programs.is_empty() {
        programs.push(drop_in().build()?);
    }
    programs.iter().map(|program| run_program(program, options)).collect()
}

/// Proves by a program that was built before.
///
/// # Errors
/// It cannot be run, or says nothing that can be read.
pub fn run_program(program: &Path, options: &Options) -> Result<Outcome, Failure> {
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
