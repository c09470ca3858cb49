//! `proofwarp bench synthetic`: proves a synthetic R1CS as large as Filecoin's and checks the proofs by discrete logarithms.

mod bases;
mod expect;
mod key;
mod measure;
mod memory;
mod options;
mod rows;
mod system;
mod table;

use proofwarp::Accelerator;
use proofwarp::groth16::Circuit;

use crate::{Failure, device, output, progress};
use measure::Outcome;

pub use bases::{Point, Progression};
pub use options::Options;

/// Runs the program, and prints its tables.
///
/// # Errors
/// Returns an error if an option is without effect, if a proof is not what it must be, or if a file cannot be written.
pub fn run(options: &Options) -> Result<(), Failure> {
    options.check()?;
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
