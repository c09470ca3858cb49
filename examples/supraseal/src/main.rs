//! Proves the circuits of the example `groth16` through bellperson's feature `cuda-supraseal`, and prints the outcome as
//! a line of JSON.

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

mod device;

use std::process::ExitCode;

use bellperson::groth16::{SuprasealParameters, create_proof_batch};
use clap::Parser;

use options::WorkOptions;
use outcome::Outcome;
use prove::Batch;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The other program that has these sources proves on the published supraseal-c2.
const ENGINE: &str = if cfg!(feature = "published") { "supraseal (published)" } else { "supraseal" };

/// Proves a circuit through bellperson's feature `cuda-supraseal` and prints the outcome as a line of JSON; the example
/// `groth16` runs this for --adapter supraseal.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    work: WorkOptions,
}

fn main() -> ExitCode {
    answer::answer(run(&Options::parse().work))
}

fn run(work: &WorkOptions) -> Result<Outcome, Failure> {
    device::watch();
    parameters::check(work)?;
    let batch = Batch::new(work)?;
    // What verifies the proofs, and makes the file if there is none.
    let parameters = parameters::load(&batch.circuits[0], work)?;
    let path = parameters::path(work)?;
    let key = progress::step("supraseal's parameters", || SuprasealParameters::new(path))?;
    let (runs, ()) = prove::repeat(ENGINE, work, || {
        Ok((prove::prove(&batch, |circuits, r, s| create_proof_batch(circuits, &key, r, s))?, ()))
    })?;
    prove::outcome(ENGINE, device::ran_on(), &runs, &batch, &parameters)
}
