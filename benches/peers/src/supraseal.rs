//! Proves as `proofwarp bench groth16` does, through bellperson's feature `cuda-supraseal`, and prints the outcome as a line
//! of JSON.

mod places;

use std::process::ExitCode;

use bellperson::groth16::{SuprasealParameters, create_proof_batch};
use bench_support::groth16::{Outcome, Task, WorkOptions, parameters_file};
use bench_support::{Failure, answer, progress};
use clap::Parser;

/// The package `published` has these sources too, and proves on the published supraseal-c2.
const ENGINE: &str = if cfg!(feature = "published") { "supraseal (published)" } else { "supraseal" };

/// Proves a circuit through bellperson's feature `cuda-supraseal` and prints the outcome as a line of JSON; `proofwarp bench
/// groth16 --adapter supraseal` runs this.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    work: WorkOptions,
}

fn main() -> ExitCode {
    answer::print(env!("CARGO_BIN_NAME"), run(&Options::parse().work))
}

fn run(work: &WorkOptions) -> Result<Outcome, Failure> {
    places::watch();
    // Its parameters verify the proofs; loading makes the file if there is none.
    let task = Task::load(work)?;
    let path = parameters_file(work)?;
    let key = progress::step("supraseal's parameters", || SuprasealParameters::new(path))?;
    task.measure(ENGINE, places::ran_on, |circuits, r, s| create_proof_batch(circuits, &key, r, s))
}
