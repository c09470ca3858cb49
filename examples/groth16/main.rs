//! Proves real circuits of bellperson's on proofwarp.
//!
//! `cargo run --release --example groth16 -- --help`

mod child;
mod circuits;
mod cli;
mod compare;
mod device;
mod exit;
mod mapped;
mod options;
mod outcome;
mod output;
mod parameters;
mod paths;
mod phases;
mod program;
mod progress;
mod prove;
mod resident;
mod steps;
mod supraseal;
mod table;

use std::process::ExitCode;

use proofwarp::settings::no_gpu;
use proofwarp::settings::table::NO_GPU;
use proofwarp::{Accelerator, BackendKind};
use serde::Serialize;

use cli::Options;
use compare::Stock;
use outcome::Outcome;
use paths::{Adapter, Measured};
use phases::Phase;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is written with `--json`.
#[derive(Serialize)]
struct Written<'a> {
    circuit: &'a str,
    log_constraints: u32,
    seed: u64,
    batch: u32,
    ours: &'a Outcome,
    phases: &'a [Phase],
    steps: &'a [Phase],
    /// Further ways to prove on proofwarp.
    others: &'a [Measured],
    stock: Option<&'a Outcome>,
}

fn main() -> ExitCode {
    let options = Options::checked(std::env::args_os()).unwrap_or_else(|error| error.exit());
    force(&options);
    exit::code(run(&options))
}

/// Hands the choice of a backend and of devices to the engine, to bellperson and to the drivers, which read it from the
/// environment.
fn force(options: &Options) {
    let mut variables = Vec::new();
    if let Some(backend) = options.backend.forced() {
        variables.push(("PROOFWARP_BACKEND", backend.to_string()));
        if backend == BackendKind::Cpu {
            variables.push((NO_GPU, "1".to_owned()));
        }
    }
    if let Some(count) = options.devices {
        variables.push(("CUDA_VISIBLE_DEVICES", visible(count as usize)));
    }
    for (name, value) in variables {
        // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
        unsafe { std::env::set_var(name, value) };
    }
}

/// The first of the GPUs that are visible.
fn visible(count: usize) -> String {
    let named = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    match named {
        Some(named) => named.split(',').take(count).collect::<Vec<_>>().join(","),
        None => (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(","),
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = &accelerator(options)?;
    let stock = options.stock().then(|| Stock::find(options)).transpose()?;
    let programs = if options.supraseal() { supraseal::programs(options)? } else { Vec::new() };
    // All that they need is gone before other programs read the parameters too; at the largest sizes there is no room
    // for both.
    let mut measured = paths::measure(accelerator, options)?;
    for way in &measured {
        println!("{}", table::measured(way));
        explain(options, &way.phases)?;
    }
    if let Some(time) = phases::compiled() {
        println!("compiling or loading kernels at their first use took {time:.2?}, no part of the times of kernels");
    }
    paths::trim(accelerator);
    let elsewhere = programs.iter().map(|program| Ok(Measured::elsewhere(supraseal::run(program, options)?)));
    let elsewhere = elsewhere.collect::<Result<Vec<_>, Failure>>()?;
    // First what was asked for first.
    let place = if options.adapter == Adapter::Supraseal { 0 } else { measured.len() };
    measured.splice(place..place, elsewhere);
    let stock = stock.map(|stock| stock.run(options)).transpose()?;
    compare(&measured, stock.as_ref())?;
    write_json(options, &measured, stock.as_ref())
}

/// What the engine found, which it says, but for what the options or bellperson's variable leave out.
fn accelerator(options: &Options) -> Result<Accelerator, Failure> {
    let all = Accelerator::global()?;
    let asked = device::asked_for_cpu(all).or_else(|| no_gpu().map(|_| NO_GPU));
    let accelerator = if asked.is_some() { all.with_devices(Vec::new()) } else { all.clone() };
    device::announce(&accelerator, asked);
    let found = accelerator.devices().len();
    if let Some(count) = options.devices.filter(|count| *count as usize != found) {
        return Err(format!("--devices: expected {count}, got {found}").into());
    }
    if options.steps && found == 0 {
        return Err("--steps: expected a device, got none: see above for the reason".into());
    }
    Ok(accelerator)
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

/// Shows all ways side by side, if there are several or one was not shown by its phases.
fn compare(measured: &[Measured], stock: Option<&Outcome>) -> Result<(), Failure> {
    let outcomes: Vec<&Outcome> = measured.iter().map(|measured| &measured.outcome).chain(stock).collect();
    if outcomes.len() > 1 || measured.iter().any(|way| way.phases.is_empty()) {
        println!("{}", table::comparison(&outcomes));
    }
    for outcome in &outcomes {
        println!("{}", table::verified(outcome));
    }
    if outcomes.len() > 1 {
        compare::check_equal(&outcomes)?;
        println!("all proofs are equal");
    }
    Ok(())
}

fn write_json(options: &Options, measured: &[Measured], stock: Option<&Outcome>) -> Result<(), Failure> {
    let (Some(path), Some((first, others))) = (&options.json, measured.split_first()) else { return Ok(()) };
    let work = &options.work;
    let written = Written {
        circuit: work.circuit.name(),
        log_constraints: work.log_constraints,
        seed: work.seed,
        batch: work.batch,
        ours: &first.outcome,
        phases: &first.phases,
        steps: &first.steps,
        others,
        stock,
    };
    Ok(output::write_json(path, &written)?)
}
