//! `cargo bench -p proofwarp-benches --bench groth16`: the resident pipeline, bellperson on the drop-ins, and bellperson on the stock crates, each of
//! the same circuits with the same parameters, in one run; all proofs are verified and compared.
//!
//! | variable | meaning |
//! |---|---|
//! | `PROOFWARP_BENCH_CIRCUITS=x5:14,sha:17,sha:18:4` | circuits, binary logarithms of their domains, and proofs of a batch |
//! | `PROOFWARP_BENCH_PROOFS=5` | number of timed proofs of each circuit; the median is reported |
//! | `PROOFWARP_BENCH_PARAMETERS=DIR` | where parameters are kept; the user's cache without it |
//! | `PROOFWARP_STOCK_GROTH16` | the program `groth16-stock` of `benches/peers`, built before; it is built without it |
//! | `PROOFWARP_SUPRASEAL_GROTH16` | programs `groth16-supraseal` and `groth16-supraseal-published`, built before, with commas between them; left out without it |
//!
//! `PROOFWARP_BENCH_OUT` and `PROOFWARP_PEERS` are those of the other benches.

use proofwarp::Accelerator;

use super::options::{Adapter, Options};
use super::outcome::Outcome;
use super::programs::Program;
use super::run::{check_equal, trim};
use super::task::Task;
use super::{drop_in, phases, resident, table};
use crate::Failure;
use crate::inputs::RANDOM;
use crate::peers::listed;
use crate::results::{self, Measurement};
use crate::session::{Session, circuit_options};

/// Default circuits, each with a domain of 2^14: small enough to prove on a CPU.
const CIRCUITS: &str = "x5:14,sha:14";

/// Runs the bench, whose linked ec-gpu-gen is the drop-in.
///
/// # Errors
/// Returns an error if a variable is malformed, if a proof is not valid or differs, or if a file cannot be written.
pub fn bench() -> Result<(), Failure> {
    let mut session = Session::new("groth16")?;
    let circuits = session.circuits(CIRCUITS);
    let circuits = circuits.iter().map(|circuit| parse(circuit)).collect::<Result<Vec<_>, _>>()?;
    let accelerator = Accelerator::global()?;
    session.note_devices(accelerator);
    for options in &circuits {
        bench_circuit(&mut session, accelerator, options)?;
    }
    session.finish()
}

/// Returns the program's options for a circuit such as `sha:18:4`.
fn parse(circuit: &str) -> Result<Options, Failure> {
    let mut parts = circuit.split(':');
    let mut arguments = Vec::new();
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
    circuit_options(circuit, arguments)
}

/// Measures all ways to prove one batch.
fn bench_circuit(session: &mut Session, accelerator: &Accelerator, options: &Options) -> Result<(), Failure> {
    let mut outcomes = ours(accelerator, options)?;
    for outcome in &outcomes {
        println!("{}", table::measured(outcome));
        session.record(measurement(options, &format!("proofwarp {}", outcome.engine), time(outcome)));
    }
    trim(accelerator);
    let supraseal =
        if options.supraseal_binary.is_empty() { Vec::new() } else { Program::find(Adapter::Supraseal, options)? };
    for program in supraseal {
        outcomes.extend(record(session, options, &program.name(), program.prove(&options.work)));
    }
    outcomes.extend(record(session, options, "stock", stock(options)));
    println!("{}", table::comparison(&outcomes));
    check_equal(&outcomes)
}

/// Measures the ways to prove that need no other program.
fn ours(accelerator: &Accelerator, options: &Options) -> Result<Vec<Outcome>, Failure> {
    let task = Task::load(&options.work)?;
    phases::collect();
    let mut outcomes = resident::measure(accelerator, &task, false)?;
    outcomes.push(drop_in::measure(&task)?);
    Ok(outcomes)
}

fn stock(options: &Options) -> Result<Outcome, Failure> {
    if options.stock_binary.is_none() && !listed("stock") {
        return Err("neither PROOFWARP_STOCK_GROTH16 names a program nor PROOFWARP_PEERS lists stock".into());
    }
    let programs = Program::find(Adapter::Stock, options)?;
    programs.first().ok_or("there is no program on stock crates")?.prove(&options.work)
}

/// Records what a program measured, or why it did not, and returns the outcome.
fn record(
    session: &mut Session,
    options: &Options,
    program: &str,
    outcome: Result<Outcome, Failure>,
) -> Option<Outcome> {
    let (name, cell) = match &outcome {
        Ok(outcome) => (implementation(outcome), time(outcome)),
        Err(error) => (program, results::Outcome::Absent(error.to_string())),
    };
    session.record(measurement(options, name, cell));
    outcome.ok()
}

/// Returns the name of what proved: the drop-in is this project's, the published crates are not.
fn implementation(outcome: &Outcome) -> &str {
    match (outcome.engine.as_str(), outcome.ran_on.as_str()) {
        ("supraseal", _) => "proofwarp supraseal",
        ("stock", "cpu") => "stock on the CPU",
        (other, _) => other,
    }
}

fn time(outcome: &Outcome) -> results::Outcome {
    let (nanoseconds, samples) = ((outcome.proving_ms * 1e6) as u64, outcome.runs_ms.len());
    results::Outcome::Time { nanoseconds, samples, note: outcome.ran_on.clone() }
}

fn measurement(options: &Options, implementation: &str, outcome: results::Outcome) -> Measurement {
    let work = &options.work;
    Measurement {
        operation: format!("groth16_{}", work.circuit.name()),
        implementation: implementation.to_owned(),
        place: if work.batch == 1 { "a proof".to_owned() } else { format!("a batch of {}", work.batch) },
        distribution: RANDOM.to_owned(),
        log_n: work.log_constraints,
        outcome,
    }
}
