//! Groth16 proofs: the resident pipeline, bellperson on the drop-ins, and bellperson on the stock crates, each of the same
//! circuits with the same parameters, in one run; all proofs are verified and compared. This is the example `groth16`
//! again and again.
//!
//! | variable | meaning |
//! |---|---|
//! | `PROOFWARP_BENCH_CIRCUITS=x5:14,sha:17,sha:18:4` | circuits, binary logarithms of their domains, and proofs of a batch |
//! | `PROOFWARP_BENCH_PROOFS=5` | timed proofs of each, of which the median counts |
//! | `PROOFWARP_BENCH_PARAMETERS=DIR` | where parameters are kept; the user's cache without it |
//! | `PROOFWARP_STOCK_GROTH16` | the program of `examples/stock`, built before; it is built without it |
//! | `PROOFWARP_SUPRASEAL_GROTH16` | programs of `examples/supraseal` and `examples/supraseal-published`, built before, with commas between them; left out without it |
//!
//! `PROOFWARP_BENCH_OUT` and `PROOFWARP_PEERS` are those of the other benches (`common/mod.rs`).

#![allow(
    dead_code,
    unused_imports,
    clippy::duplicate_mod,
    reason = "the example and the other benches use more of what they share"
)]

#[path = "../examples/groth16/child.rs"]
mod child;
#[path = "../examples/groth16/circuits/mod.rs"]
mod circuits;
#[path = "../examples/groth16/cli.rs"]
mod cli;
mod common;
#[path = "../examples/groth16/compare.rs"]
mod compare;
#[path = "../examples/groth16/mapped.rs"]
mod mapped;
#[path = "../examples/groth16/options.rs"]
mod options;
#[path = "../examples/groth16/outcome.rs"]
mod outcome;
#[path = "../examples/groth16/output.rs"]
mod output;
#[path = "../examples/groth16/parameters.rs"]
mod parameters;
#[path = "../examples/groth16/paths.rs"]
mod paths;
#[path = "../examples/groth16/phases.rs"]
mod phases;
#[path = "../examples/groth16/program.rs"]
mod program;
#[path = "../examples/groth16/progress.rs"]
mod progress;
#[path = "../examples/groth16/prove.rs"]
mod prove;
#[path = "../examples/groth16/resident.rs"]
mod resident;
#[path = "../examples/groth16/steps.rs"]
mod steps;
#[path = "../examples/groth16/supraseal.rs"]
mod supraseal;
#[path = "../examples/groth16/table.rs"]
mod table;

use std::process::ExitCode;

use common::{Measurement, Session};
use proofwarp::Accelerator;

use cli::Options;
use compare::Stock;
use outcome::Outcome;

/// Anything that ends the bench.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Small enough for a processor.
const CIRCUITS: &str = "x5:14,sha:14";

fn main() -> ExitCode {
    common::exit::code(run())
}

fn run() -> Result<(), Failure> {
    let mut session = Session::new("groth16").map_err(|error| error.to_string())?;
    let circuits = std::env::var("PROOFWARP_BENCH_CIRCUITS").unwrap_or_else(|_| CIRCUITS.to_owned());
    let circuits =
        circuits.split(',').map(str::trim).filter(|circuit| session.wants_name(&format!("groth16_{circuit}")));
    let circuits = circuits.map(parse).collect::<Result<Vec<_>, _>>()?;
    let accelerator = Accelerator::global()?;
    for device in accelerator.devices() {
        session.note(format!("{} ({})", device.info().name, device.info().backend));
    }
    for options in &circuits {
        bench(&mut session, accelerator, options)?;
    }
    Ok(session.finish().map_err(|error| error.to_string())?)
}

/// The example's options for a circuit such as `sha:18:4`.
fn parse(circuit: &str) -> Result<Options, Failure> {
    let mut parts = circuit.split(':');
    let mut arguments = vec!["groth16".to_owned()];
    for (name, default) in [("circuit", "sha"), ("log-constraints", "14"), ("batch", "1")] {
        arguments.push(format!("--{name}={}", parts.next().unwrap_or(default)));
    }
    for (option, variable) in [
        ("proofs", "PROOFWARP_BENCH_PROOFS"),
        ("parameters", "PROOFWARP_BENCH_PARAMETERS"),
        ("stock-binary", "PROOFWARP_STOCK_GROTH16"),
        ("supraseal-binary", "PROOFWARP_SUPRASEAL_GROTH16"),
    ] {
        arguments.extend(std::env::var(variable).ok().map(|value| format!("--{option}={value}")));
    }
    if let Some(more) = parts.next() {
        return Err(format!("PROOFWARP_BENCH_CIRCUITS: {circuit}: expected CIRCUIT:LOG:BATCH, got {more} too").into());
    }
    arguments.extend(["--adapter=resident", "--against=ec-gpu-gen"].map(str::to_owned));
    Options::checked(&arguments)
        .map_err(|error| format!("variables for {circuit} as options of a proof: {error}").into())
}

/// All ways to prove one batch.
fn bench(session: &mut Session, accelerator: &Accelerator, options: &Options) -> Result<(), Failure> {
    let measured = paths::measure(accelerator, options)?;
    for way in &measured {
        println!("{}", table::measured(way));
        let outcome = &way.outcome;
        let name = format!("proofwarp {}", outcome.engine);
        session.record(measurement(options, &name, time(outcome)));
    }
    paths::trim(accelerator);
    let supraseal = bench_supraseal(session, options);
    let stock = stock(options);
    let name = match &stock {
        Ok(outcome) if outcome.ran_on == "cpu" => "stock on the CPU",
        _ => "stock",
    };
    let outcome = stock.as_ref().map_or_else(|error| common::Outcome::Absent(error.to_string()), time);
    session.record(measurement(options, name, outcome));
    let outcomes: Vec<&Outcome> =
        measured.iter().map(|measured| &measured.outcome).chain(&supraseal).chain(stock.as_ref().ok()).collect();
    println!("{}", table::comparison(&outcomes));
    compare::check_equal(&outcomes)
}

/// The programs of bellperson's other prover that were named; gives what those measured that could prove.
fn bench_supraseal(session: &mut Session, options: &Options) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for program in &options.supraseal_binary {
        match supraseal::run(program, options) {
            Ok(outcome) => {
                session.record(measurement(options, supraseal_name(&outcome), time(&outcome)));
                outcomes.push(outcome);
            }
            Err(error) => {
                let name = program.file_name().unwrap_or_default().to_string_lossy();
                session.record(measurement(options, &name, common::Outcome::Absent(error.to_string())));
            }
        }
    }
    outcomes
}

/// The drop-in is this project's, the published crate is not.
fn supraseal_name(outcome: &Outcome) -> &str {
    match outcome.engine.as_str() {
        "supraseal" => "proofwarp supraseal",
        other => other,
    }
}

fn stock(options: &Options) -> Result<Outcome, Failure> {
    if options.stock_binary.is_none() && !common::listed("stock") {
        return Err("neither PROOFWARP_STOCK_GROTH16 names a program nor PROOFWARP_PEERS lists stock".into());
    }
    Stock::find(options)?.run(options)
}

fn time(outcome: &Outcome) -> common::Outcome {
    let (nanoseconds, samples) = ((outcome.proving_ms * 1e6) as u64, outcome.runs_ms.len());
    common::Outcome::Time { nanoseconds, samples, note: outcome.ran_on.clone() }
}

fn measurement(options: &Options, implementation: &str, outcome: common::Outcome) -> Measurement {
    let work = &options.work;
    Measurement {
        operation: format!("groth16_{}", work.circuit.name()),
        implementation: implementation.to_owned(),
        place: if work.batch == 1 { "a proof".to_owned() } else { format!("a batch of {}", work.batch) },
        distribution: common::inputs::RANDOM.to_owned(),
        log_n: work.log_constraints,
        outcome,
    }
}
