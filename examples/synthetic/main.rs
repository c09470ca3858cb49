//! Proves a synthetic R1CS as large as Filecoin's and checks the proofs by discrete logarithms.
//!
//! `cargo run --release --example synthetic -- --help`

mod bases;
mod cli;
#[path = "../groth16/device.rs"]
mod device;
#[path = "../groth16/exit.rs"]
mod exit;
mod expect;
mod key;
mod measure;
mod memory;
#[path = "../groth16/output.rs"]
#[allow(dead_code, reason = "the example `groth16` keeps parameters in a folder")]
mod output;
#[path = "../groth16/progress.rs"]
mod progress;
mod rows;
mod system;
mod table;

use std::process::ExitCode;

use proofwarp::Accelerator;
use proofwarp::groth16::Circuit;

use cli::Options;
use measure::Outcome;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let options = Options::checked(std::env::args_os()).unwrap_or_else(|error| error.exit());
    for (name, value) in options.variables() {
        // SAFETY: called first of all in `main`, before there is any other thread that could read the environment.
        unsafe { std::env::set_var(name, value) };
    }
    exit::code(run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = accelerator(options)?;
    announce(&accelerator);
    let system = progress::step("making the system", || options.shape().make())?;
    let take_down = || Circuit::from_matrices(system.inputs, system.matrices.clone());
    let circuit = progress::step("finding the variables in A and B", take_down)?;
    println!("{}", table::system(&system, &circuit));
    let plan = memory::plan(&system, &circuit)?;
    println!("{}", table::plan(&plan, &accelerator));
    let outcome = measure::measure(&accelerator, options, &system, &circuit)?;
    println!("{}", table::outcome(&outcome));
    outcome.report.fallbacks.iter().for_each(|reason| println!("not used: {reason}"));
    write_json(options, plan, &outcome)
}

fn accelerator(options: &Options) -> Result<Accelerator, Failure> {
    let all = Accelerator::from_env()?;
    let most = options.devices.map_or(usize::MAX, |devices| devices as usize);
    let devices = all.devices().iter().take(most).cloned().collect();
    Ok(all.with_devices(devices))
}

fn announce(accelerator: &Accelerator) {
    let cores = rayon::current_num_threads();
    println!("host: {cores} cores{}", memory::host_available().map_or_else(String::new, table::available));
    device::announce(accelerator, device::asked_for_cpu(accelerator));
}

fn write_json(options: &Options, plan: Vec<memory::Item>, outcome: &Outcome) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let written = outcome.json(options, plan);
    Ok(output::write_json(path, &written)?)
}
