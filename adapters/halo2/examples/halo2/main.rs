//! Proves a circuit of halo2-axiom's whose rows are all filled on proofwarp, and on halo2-axiom beside it.
//!
//! `cargo run --release -p proofwarp-halo2 --example halo2 -- --help`

mod circuit;
mod cli;
#[path = "../../../../examples/groth16/exit.rs"]
mod exit;
mod marks;
mod measure;
#[path = "../../../../examples/groth16/output.rs"]
#[allow(dead_code, reason = "the example `groth16` keeps parameters in a folder")]
mod output;
#[path = "../../../../examples/groth16/place.rs"]
mod place;
#[path = "../../../../examples/groth16/progress.rs"]
mod progress;
mod prove;
mod shape;
mod table;
mod witness;

use std::process::ExitCode;

use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use proofwarp_halo2::halo2_axiom;
use rand_core::OsRng;
use serde::Serialize;

use circuit::Filled;
use cli::Options;
use measure::Outcome;
use prove::{Prover, Task};

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is written with `--json`.
#[derive(Serialize)]
struct Written<'a> {
    circuit: String,
    k: u32,
    opening: String,
    cores: usize,
    ours: &'a Outcome,
    stock: Option<&'a Outcome>,
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
    let shape = options.shape();
    println!("{}", table::shape(&shape));
    let circuit = progress::step("making the witness", || Ok::<_, Failure>(Filled::new(shape)))?;
    let setup = progress::step("making the setup", || Ok::<_, Failure>(ParamsKZG::setup(options.k, OsRng)))?;
    let task = Task { setup: &setup, circuit: &circuit, opening: options.opening };
    let ours = measure::measure(Prover::Ours, &task, options.proofs)?;
    let stock = options.compare.then(|| measure::measure(Prover::Stock, &task, options.proofs)).transpose()?;
    println!("{}", table::times(&ours, stock.as_ref()));
    for outcome in std::iter::once(&ours).chain(&stock) {
        println!("{}", table::verified(outcome));
    }
    same_keys(&ours, stock.as_ref())?;
    write_json(options, &ours, stock.as_ref())
}

/// Keys of both are to be the same.
fn same_keys(ours: &Outcome, stock: Option<&Outcome>) -> Result<(), Failure> {
    match stock.map(|stock| &stock.key) {
        Some(key) if *key != ours.key => {
            Err(format!("the keys differ: ours is {}, the stock one {key}", ours.key).into())
        }
        _ => Ok(()),
    }
}

fn write_json(options: &Options, ours: &Outcome, stock: Option<&Outcome>) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let written = Written {
        circuit: cli::name(&options.circuit),
        k: options.k,
        opening: cli::name(&options.opening),
        cores: rayon::current_num_threads(),
        ours,
        stock,
    };
    Ok(output::write_json(path, &written)?)
}
