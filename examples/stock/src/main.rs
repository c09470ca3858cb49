//! Proves the circuits of the example `groth16` on stock ec-gpu-gen, and prints the outcome as a line of JSON.

#[path = "../../groth16/answer.rs"]
mod answer;
#[path = "../../groth16/circuits/mod.rs"]
mod circuits;
#[path = "../../groth16/options.rs"]
mod options;
#[path = "../../groth16/outcome.rs"]
mod outcome;
#[path = "../../groth16/output.rs"]
#[allow(dead_code, reason = "the example writes results to files")]
mod output;
#[path = "../../groth16/parameters.rs"]
mod parameters;
#[path = "../../groth16/progress.rs"]
mod progress;
#[path = "../../groth16/prove.rs"]
mod prove;

mod gpu_log;

use std::process::ExitCode;

use bellperson::groth16::create_proof_batch;
use clap::Parser;

use options::WorkOptions;
use outcome::Outcome;
use prove::Batch;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Proves a circuit on stock ec-gpu-gen and prints the outcome as a line of JSON; the example `groth16` runs
/// this for --compare.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    work: WorkOptions,
}

fn main() -> ExitCode {
    answer::answer(run(&Options::parse().work))
}

fn run(work: &WorkOptions) -> Result<Outcome, Failure> {
    gpu_log::install()?;
    parameters::check(work)?;
    let batch = Batch::new(work)?;
    let parameters = parameters::load(&batch.circuits[0], work)?;
    let (runs, ()) = prove::repeat("stock", work, || {
        Ok((prove::prove(&batch, |circuits, r, s| create_proof_batch(circuits, &parameters, r, s))?, ()))
    })?;
    prove::outcome("stock", gpu_log::ran_on(), &runs, &batch, &parameters)
}
