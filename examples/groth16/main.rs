//! Proves real circuits with an unmodified bellperson on proofwarp.
//!
//! `cargo run --release --example groth16 -- --help`

mod circuits;
mod cli;
mod compare;
mod options;
mod outcome;
mod parameters;
mod phases;
mod progress;
mod prove;
mod table;

use std::process::ExitCode;

use bellperson::groth16::Parameters;
use blstrs::Bls12;
use clap::Parser;
use proofwarp::{Accelerator, BackendKind};
use serde::Serialize;

use circuits::Workload;
use cli::Options;
use outcome::Outcome;
use phases::Phase;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is written with `--json`.
#[derive(Serialize)]
struct Written<'a> {
    circuit: &'a str,
    log_constraints: u32,
    seed: u64,
    ours: &'a Outcome,
    phases: &'a [Phase],
    stock: Option<&'a Outcome>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    force(&options);
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("groth16: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Hands the choice of a backend to the engine and to bellperson, which read it from the environment.
fn force(options: &Options) {
    let Some(backend) = options.backend.forced() else { return };
    // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
    unsafe { std::env::set_var("PROOFWARP_BACKEND", backend.to_string()) };
    if backend == BackendKind::Cpu {
        // SAFETY: as above.
        unsafe { std::env::set_var("BELLMAN_NO_GPU", "1") };
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = Accelerator::global()?;
    announce(accelerator);
    let work = &options.work;
    let workload = prove::workload(work)?;
    let parameters = parameters::load(&workload, work)?;
    let (ours, phases) = measure(options, &workload, &parameters)?;
    println!("{}", table::phases(&ours, &phases));
    explain(options, &phases)?;
    // The other program reads the parameters too; at the largest sizes there is no room for both.
    drop(parameters);
    let stock = (options.compare || options.stock_binary.is_some()).then(|| compare(options, &ours)).transpose()?;
    write_json(options, &ours, &phases, stock.as_ref())
}

/// Says what the engine found.
fn announce(accelerator: &Accelerator) {
    if std::env::var("BELLMAN_NO_GPU").is_ok_and(|value| value != "0") {
        println!("proving on the CPU: BELLMAN_NO_GPU or --backend cpu asks for it");
    } else if accelerator.devices().is_empty() {
        println!("proving on the CPU: there is no other device");
        let errors = [BackendKind::Cuda, BackendKind::OpenCl].map(Accelerator::with_backend);
        errors.iter().filter_map(|found| found.as_ref().err()).for_each(|error| println!("  {error}"));
    }
    for device in accelerator.devices() {
        println!("device: {} ({})", device.info().name, device.info().backend);
    }
}

/// Proves once to warm up, then as often as asked; gives the median run with its phases.
fn measure(
    options: &Options,
    workload: &Workload,
    parameters: &Parameters<Bls12>,
) -> Result<(Outcome, Vec<Phase>), Failure> {
    phases::collect();
    let seed = options.work.seed;
    progress::step("proof to warm up (not counted)", || prove::prove(workload, parameters, seed))?;
    let mut runs = Vec::new();
    let mut phases_of_runs = Vec::new();
    for number in 1..=options.work.proofs {
        phases::clear();
        let name = format!("proof {number} of {}", options.work.proofs);
        runs.push(progress::step(&name, || prove::prove(workload, parameters, seed))?);
        phases_of_runs.push(phases::take(parameters));
    }
    let phases = phases_of_runs.swap_remove(prove::median(&runs));
    let outcome = prove::outcome("proofwarp", phases::places(&phases), &runs, workload, parameters)?;
    Ok((outcome, phases))
}

/// Says why a backend was passed over; what ran elsewhere than was asked for is an error.
fn explain(options: &Options, phases: &[Phase]) -> Result<(), Failure> {
    let mut reasons: Vec<&String> = phases.iter().flat_map(|phase| &phase.fallbacks).collect();
    reasons.sort();
    reasons.dedup();
    for reason in reasons {
        println!("not used: {reason}");
    }
    let Some(forced) = options.backend.forced() else { return Ok(()) };
    let prefix = format!("{forced} ");
    // Transforms by ec-gpu-gen's own code for the CPU make no report.
    let strays = |phase: &&Phase| {
        phase.backends.iter().any(|backend| !backend.starts_with(&prefix))
            || (phase.unreported > 0 && forced != BackendKind::Cpu)
    };
    let Some(phase) = phases.iter().find(strays) else { return Ok(()) };
    let (name, backends, rest) = (&phase.name, phase.backends.join(" and "), phase.unreported);
    Err(format!("{name}: expected all on {forced}, got {backends}, and {rest} elements elsewhere").into())
}

fn compare(options: &Options, ours: &Outcome) -> Result<Outcome, Failure> {
    let stock = compare::run_stock(options)?;
    println!("{}", table::comparison(ours, &stock));
    compare::check_equal(ours, &stock)?;
    println!("both proofs are equal, and valid");
    Ok(stock)
}

fn write_json(options: &Options, ours: &Outcome, phases: &[Phase], stock: Option<&Outcome>) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let work = &options.work;
    let written = Written {
        circuit: work.circuit.name(),
        log_constraints: work.log_constraints,
        seed: work.seed,
        ours,
        phases,
        stock,
    };
    Ok(std::fs::write(path, serde_json::to_string_pretty(&written)? + "\n")?)
}
