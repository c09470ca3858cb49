//! Proves the circuits of the example `halo2` on the published halo2-axiom-gpu, has halo2-axiom verify the proofs, and
//! prints the outcome as a line of JSON. The example runs this for `--compare`, the bench `halo2` too.

#[path = "../../../examples/halo2-base/src/base.rs"]
mod base;
#[path = "../../../adapters/halo2/examples/halo2/circuit.rs"]
mod circuit;
#[path = "../../../examples/groth16/exit.rs"]
mod exit;
#[path = "../../../adapters/halo2/examples/halo2/measure.rs"]
#[allow(dead_code, reason = "the other provers' errors are of another type")]
mod measure;
#[path = "../../../adapters/halo2/examples/halo2/options.rs"]
mod options;
#[path = "../../../adapters/halo2/examples/halo2/outcome.rs"]
mod outcome;
#[path = "../../../examples/groth16/progress.rs"]
mod progress;
mod prove;
#[path = "../../../adapters/halo2/examples/halo2/shape.rs"]
mod shape;
#[path = "../../../adapters/halo2/examples/halo2/task.rs"]
mod task;
#[path = "../../../adapters/halo2/examples/halo2/timed.rs"]
mod timed;
#[path = "../../../adapters/halo2/src/timed_transcript.rs"]
mod timed_transcript;
#[path = "../../../adapters/halo2/examples/halo2/witness.rs"]
mod witness;

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Circuit;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use rand_core::OsRng;

use measure::measure;
use options::{Kind, Work};
use prove::Peer;
use shape::Shape;
use task::{Circuits, Setup, Task};
use timed_transcript::TimedTranscript;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Proves a circuit on halo2-axiom-gpu 1.0.1, on the first GPU, and prints the times as a line of JSON.
#[derive(Parser)]
#[command(after_help = "Example:\n  halo2-axiom-gpu-proofs --circuit wide --k 18 --proofs 5")]
struct Options {
    #[command(flatten)]
    work: Work,
    /// A setup of that size in halo2-axiom's form RawBytesUnchecked; without it, one is made
    #[arg(long, value_name = "FILE")]
    setup: Option<PathBuf>,
}

fn main() -> ExitCode {
    exit::code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Failure> {
    let setup = progress::step("halo2-axiom-gpu: the setup", || setup(options))?;
    let k = options.work.k;
    match options.work.circuit {
        Kind::Measured => prove(options, &setup, &Circuits::filled(Shape::measured(k))),
        Kind::Wide => prove(options, &setup, &Circuits::filled(Shape::wide(k))),
        Kind::Base => prove(options, &setup, &base::circuits(k)),
    }
}

fn setup(options: &Options) -> Result<Setup, Failure> {
    let Some(path) = &options.setup else { return Ok(ParamsKZG::setup(options.work.k, OsRng)) };
    let name = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufReader::new(File::open(path).map_err(name)?);
    Ok(Setup::read_custom(&mut file, SerdeFormat::RawBytesUnchecked).map_err(name)?)
}

fn prove<C: Circuit<Fr>>(options: &Options, setup: &Setup, circuits: &Circuits<C>) -> Result<(), Failure> {
    let peer = Peer::new(setup, options.work.opening)?;
    let outcome = measure(&peer, &Task { setup, circuits, work: &options.work })?;
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}
