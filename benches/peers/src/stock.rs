//! Proves as `proofwarp bench groth16` does, on stock ec-gpu-gen, and prints the outcome as a line of JSON.

mod gpu_log;

use std::process::ExitCode;

use bellperson::groth16::create_proof_batch;
use bench_support::groth16::{Outcome, Task, WorkOptions};
use bench_support::{Failure, answer};
use clap::Parser;

/// Proves a circuit on stock ec-gpu-gen and prints the outcome as a line of JSON; `proofwarp bench groth16 --adapter stock`
/// runs this.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    work: WorkOptions,
}

fn main() -> ExitCode {
    answer::print("groth16-stock", run(&Options::parse().work))
}

fn run(work: &WorkOptions) -> Result<Outcome, Failure> {
    gpu_log::install()?;
    let task = Task::load(work)?;
    task.measure("stock", gpu_log::ran_on, |circuits, r, s| create_proof_batch(circuits, &task.parameters, r, s))
}
