//! `proofwarp bench sumcheck`: commits to random columns, proves that their product adds up to its sum, verifies the proof and the
//! openings of the commitment, and shows what ran where and for how long.

mod inputs;
mod measure;
mod merkle;
mod options;
mod over;

use clap::ValueEnum;
use comfy_table::Table;
use proofwarp::Accelerator;
#[cfg(feature = "plonky3")]
use proofwarp::field::plonky3;
use proofwarp::field::{ghash::Ghash, tower::Tower};
use serde::Serialize;

use crate::{Failure, device, output, table};
use measure::Outcome;
use options::Field;
use over::Same;

pub use options::Options;

/// Holds the numbers that `--json` writes.
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

/// Runs the program, and prints its table.
///
/// # Errors
/// Returns an error if a proof fails or does not verify, if two ways give other proofs, or if a file cannot be written.
pub fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = Accelerator::from_env()?;
    device::announce_all(&accelerator);
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
    say!("{}", show(&outcomes));
    for outcome in &outcomes {
        say!("{}: {}", outcome.way, outcome.explanation);
    }
    say!("every proof and its openings were verified, and all are the same: {} bytes", outcomes[0].proof_bytes);
    write_json(options, &outcomes)
}

fn write_json(options: &Options, outcomes: &[Outcome]) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let written = Written {
        field: name(&options.field),
        variables: options.vars,
        degree: options.degree,
        eq: options.eq,
        columns: name(&options.columns),
        cores: rayon::current_num_threads(),
        outcomes,
    };
    Ok(output::write_json(path, &written)?)
}

/// Returns a table with a row for each of `outcomes`.
fn show(outcomes: &[Outcome]) -> Table {
    let header = ["way", "ran on", "rounds", "first (ms)", "median (ms)", "verification (ms)"];
    let row = |outcome: &Outcome| {
        let Outcome { way, backend, device, rounds, first_ms, proof_ms, verify_ms, .. } = outcome;
        let front = [way.clone(), format!("{device} ({backend})"), rounds.to_string()];
        front.into_iter().chain([first_ms, proof_ms, verify_ms].map(|ms| format!("{ms:.3}"))).collect::<Vec<_>>()
    };
    table::new(&header, 2..6, outcomes.iter().map(row))
}

/// Returns the name that the command line has for `value`.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
