//! Proves a circuit of halo2-axiom's on proofwarp, and on halo2-axiom and halo2-axiom-gpu beside it.
//!
//! `cargo run --release -p proofwarp-halo2 --example halo2 -- --help`

mod base;
mod circuit;
mod cli;
#[path = "../../../../examples/groth16/exit.rs"]
mod exit;
mod marks;
mod measure;
mod options;
mod outcome;
#[path = "../../../../examples/groth16/output.rs"]
#[allow(dead_code, reason = "the example `groth16` keeps parameters in a folder")]
mod output;
mod peer;
#[path = "../../../../examples/groth16/place.rs"]
mod place;
#[path = "../../../../examples/groth16/program.rs"]
mod program;
#[path = "../../../../examples/groth16/progress.rs"]
mod progress;
mod prove;
mod shape;
mod table;
mod task;
mod timed;
mod witness;

use std::process::ExitCode;

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Circuit;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use rand_core::OsRng;
use serde::Serialize;

use cli::Options;
use measure::measure;
use options::Kind;
use outcome::Outcome;
use prove::{Ours, Stock};
use shape::Shape;
use task::{Circuits, Task};

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is written with `--json`.
#[derive(Serialize)]
struct Written<'a> {
    opening: String,
    cores: usize,
    outcomes: &'a [Outcome],
}

fn main() -> ExitCode {
    let options = Options::checked(std::env::args_os()).unwrap_or_else(|error| error.exit());
    if let Some(backend) = options.backend.forced() {
        // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
        unsafe { std::env::set_var("PROOFWARP_BACKEND", backend.to_string()) };
    }
    exit::code(run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = Accelerator::global()?;
    println!("host: {} cores", rayon::current_num_threads());
    place::announce(accelerator, place::asked_for_cpu(accelerator));
    let k = options.work.k;
    match options.work.circuit {
        Kind::Measured => prove(options, &made(|| Circuits::filled(Shape::measured(k)))?),
        Kind::Wide => prove(options, &made(|| Circuits::filled(Shape::wide(k)))?),
        Kind::Base => prove(options, &made(|| Circuits::base(k))?),
    }
}

fn made<C>(circuits: impl FnOnce() -> Circuits<C>) -> Result<Circuits<C>, Failure> {
    progress::step("making the witness", || Ok(circuits()))
}

fn prove<C: Circuit<Fr>>(options: &Options, circuits: &Circuits<C>) -> Result<(), Failure> {
    let work = &options.work;
    println!("{}", table::shape(&circuits.for_keys, work.k));
    let setup = progress::step("making the setup", || Ok::<_, Failure>(ParamsKZG::setup(work.k, OsRng)))?;
    let task = Task { setup: &setup, circuits, work };
    let mut outcomes = vec![measure(&Ours::new(&setup, work.opening), &task)?];
    if options.compare {
        outcomes.push(measure(&Stock { setup: &setup, opening: work.opening }, &task)?);
        outcomes.extend(peer(options, &setup)?);
    }
    println!("{}", table::times(&outcomes));
    for outcome in &outcomes {
        println!("{}", table::verified(outcome));
    }
    same_keys(&outcomes)?;
    write_json(options, &outcomes)
}

/// The peer's outcome. What was not named may be absent.
fn peer(options: &Options, setup: &task::Setup) -> Result<Option<Outcome>, Failure> {
    // It takes memory on the device too.
    proofwarp_halo2::clear_setups();
    let found = peer::find(options.peer.as_deref()).and_then(|program| peer::run(&program, &options.work, setup));
    match found {
        Err(error) if options.peer.is_none() => {
            println!("left out: {}: {error}", peer::NAME);
            Ok(None)
        }
        found => found.map(Some),
    }
}

/// All keys are to be the same.
fn same_keys(outcomes: &[Outcome]) -> Result<(), Failure> {
    match outcomes.windows(2).find(|pair| pair[0].key != pair[1].key) {
        Some([one, other]) => {
            Err(format!("the keys differ: {} has {}, {} has {}", one.prover, one.key, other.prover, other.key).into())
        }
        _ => Ok(()),
    }
}

fn write_json(options: &Options, outcomes: &[Outcome]) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let (opening, cores) = (options::name(&options.work.opening), rayon::current_num_threads());
    Ok(output::write_json(path, &Written { opening, cores, outcomes })?)
}
