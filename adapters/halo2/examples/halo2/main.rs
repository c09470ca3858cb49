//! Proves a circuit of halo2-axiom's on proofwarp, and on halo2-axiom and halo2-axiom-gpu beside it.
//!
//! `cargo run --release -p proofwarp-halo2 --example halo2 -- --help`

mod adapter;
mod all_devices;
mod circuit;
mod cli;
#[path = "../../../../examples/groth16/device.rs"]
mod device;
#[path = "../../../../examples/groth16/exit.rs"]
mod exit;
mod measure;
mod options;
mod outcome;
#[path = "../../../../examples/groth16/output.rs"]
#[allow(dead_code, reason = "the example `groth16` keeps parameters in a folder")]
mod output;
mod peer;
#[path = "../../../../examples/groth16/program.rs"]
mod program;
#[path = "../../../../examples/groth16/progress.rs"]
mod progress;
mod shape;
mod stock;
mod table;
mod task;
#[cfg(test)]
mod tests;
mod timed;
mod witness;

use std::process::ExitCode;

use proofwarp_halo2::TimedTranscript;

use cli::Options;
use options::Kind;
use shape::Shape;
use task::Circuits;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Circuits that this program has.
const KINDS: [Kind; 2] = [Kind::Measured, Kind::Wide];

fn main() -> ExitCode {
    let options = Options::checked(std::env::args_os(), &KINDS).unwrap_or_else(|error| error.exit());
    if let Some(backend) = options.backend.forced() {
        // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
        unsafe { std::env::set_var("PROOFWARP_BACKEND", backend.to_string()) };
    }
    exit::code(run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let k = options.work.k;
    let shape = if options.work.circuit == Kind::Wide { Shape::wide(k) } else { Shape::measured(k) };
    all_devices::run(options, || Circuits::filled(shape))
}
