//! Commits to random columns, proves that their product adds up to its sum, verifies the proof and the openings of the commitment, and
//! shows what ran where and for how long.
//!
//! `cargo run --release --example sumcheck -- --help`

mod cli;
#[path = "../groth16/device.rs"]
mod device;
#[path = "../groth16/exit.rs"]
mod exit;
mod inputs;
mod measure;
mod merkle;
#[path = "../groth16/output.rs"]
#[allow(dead_code, reason = "the example `groth16` keeps parameters in a folder")]
mod output;
mod over;
mod table;

use std::process::ExitCode;

use proofwarp::Accelerator;
#[cfg(feature = "plonky3")]
use proofwarp::field::plonky3;
use proofwarp::field::{ghash::Ghash, tower::Tower};
use serde::Serialize;

use cli::{Field, Options};
use measure::Outcome;
use over::Same;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is written with `--json`.
#[derive(Serialize)]
struct Written<'a> {
    field: String,
    variables: u32,
    degree: usize,
    eq: bool,
    columns: String,
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
    let accelerator = Accelerator::from_env()?;
    println!("host: {} cores", rayon::current_num_threads());
    device::announce(&accelerator, device::asked_for_cpu(&accelerator));
    let measured = match options.field {
        Field::Tower => measure::measure::<Tower, Same>,
        Field::Ghash => measure::measure::<Ghash, Same>,
        Field::Bn254 => measure::measure::<halo2curves::bn256::Fr, Same>,
        Field::Bls12381 => measure::measure::<blstrs::Scalar, Same>,
        Field::PastaFp => measure::measure::<pasta_curves::Fp, Same>,
        Field::PastaFq => measure::measure::<pasta_curves::Fq, Same>,
        #[cfg(feature = "plonky3")]
        Field::Goldilocks => measure::measure::<plonky3::Goldilocks2, over::Below>,
        #[cfg(feature = "plonky3")]
        Field::Goldilocks2 => measure::measure::<plonky3::Goldilocks2, Same>,
        #[cfg(feature = "plonky3")]
        Field::BabyBear => measure::measure::<plonky3::BabyBear4, over::Below>,
        #[cfg(feature = "plonky3")]
        Field::BabyBear4 => measure::measure::<plonky3::BabyBear4, Same>,
    };
    let outcomes = measured(&accelerator, options)?;
    println!("{}", table::outcomes(&outcomes));
    for outcome in &outcomes {
        println!("{}: {}", outcome.way, outcome.explanation);
    }
    println!("every proof and its openings were verified, and all are the same: {} bytes", outcomes[0].proof_bytes);
    write_json(options, &outcomes)
}

fn write_json(options: &Options, outcomes: &[Outcome]) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let written = Written {
        field: cli::name(&options.field),
        variables: options.vars,
        degree: options.degree,
        eq: options.eq,
        columns: cli::name(&options.columns),
        cores: rayon::current_num_threads(),
        outcomes,
    };
    Ok(output::write_json(path, &written)?)
}
