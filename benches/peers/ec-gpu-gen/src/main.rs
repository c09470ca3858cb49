//! Proves as `proofwarp bench groth16` does, on the drop-in for ec-gpu-gen, and prints the outcome as a line of JSON.

use std::process::ExitCode;

use bench_support::answer;
use bench_support::groth16::{Task, WorkOptions, measure_drop_in};
use clap::Parser;

/// Proves a circuit on the drop-in for ec-gpu-gen and prints the outcome as a line of JSON; `proofwarp bench groth16 --adapter
/// ec-gpu-gen` runs this.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    work: WorkOptions,
}

fn main() -> ExitCode {
    let task = Task::load(&Options::parse().work);
    answer::print("groth16-ec-gpu-gen", task.and_then(|task| measure_drop_in(&task)))
}
