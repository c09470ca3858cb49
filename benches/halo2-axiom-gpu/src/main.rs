//! Proves the circuits of `proofwarp bench halo2` on the published halo2-axiom-gpu, has halo2-axiom verify the proofs, and
//! prints the outcome as a line of JSON. `--compare` runs this, the bench `halo2` too.

mod prove;

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use bench_support::halo2::{Circuits, Kind, Outcome, Setup, Shape, Task, Work, measure};
use bench_support::{Failure, answer, progress};
use clap::Parser;
use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Circuit;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use rand_core::OsRng;

use prove::Peer;

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
    answer::print("halo2-axiom-gpu-proofs", run(&Options::parse()))
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let setup = progress::step("halo2-axiom-gpu: the setup", || setup(options))?;
    let k = options.work.k;
    match options.work.circuit {
        Kind::Measured => prove(options, &setup, &Circuits::filled(Shape::measured(k))),
        Kind::Wide => prove(options, &setup, &Circuits::filled(Shape::wide(k))),
        Kind::Base => prove(options, &setup, &halo2_base_proofs::circuits(k)),
    }
}

fn setup(options: &Options) -> Result<Setup, Failure> {
    let Some(path) = &options.setup else { return Ok(ParamsKZG::setup(options.work.k, OsRng)) };
    let name = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufReader::new(File::open(path).map_err(name)?);
    Ok(Setup::read_custom(&mut file, SerdeFormat::RawBytesUnchecked).map_err(name)?)
}

fn prove<C: Circuit<Fr>>(options: &Options, setup: &Setup, circuits: &Circuits<C>) -> Result<Outcome, Failure> {
    let peer = Peer::new(setup, options.work.opening)?;
    measure(&peer, &Task { setup, circuits, work: &options.work })
}
