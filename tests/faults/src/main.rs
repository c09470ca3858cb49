//! Proofs on devices that go wrong on purpose: each ends with a proof that an independent verifier accepts, or with an error.

#[path = "../../groth16/circuits.rs"]
mod circuits;
#[path = "../../common/mod.rs"]
mod common;
#[allow(dead_code, unused_imports, reason = "tests use more of it")]
#[path = "../../../adapters/halo2/tests/halo2/described/mod.rs"]
mod described;
#[path = "../../common/faulty.rs"]
mod faulty;

mod bellperson;
mod bench;
mod draw;
mod groth16;
mod halo2;
mod hook;
mod line;
mod subject;
mod sumcheck;
mod supervisor;
mod table;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use subject::Group;

/// Proves on devices that go wrong on purpose.
#[derive(Debug, Clone, Parser)]
pub struct Arguments {
    /// Faults that are to be injected, over all groups.
    #[arg(long, default_value_t = 200)]
    faults: usize,
    /// The first seed; each run has the next one.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The groups of provers; all by default.
    #[arg(long, value_enum)]
    group: Vec<Group>,
    /// Runs of a group, whatever number of faults they have: to repeat one.
    #[arg(long)]
    runs: Option<u64>,
    /// Seconds after which a run counts as hanging.
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Groups that run side by side.
    #[arg(long, default_value_t = 1)]
    side_by_side: usize,
    /// No silent faults: no bit is changed.
    #[arg(long)]
    loud: bool,
    /// Runs faults and says on standard output how each run ends: the supervisor starts it.
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let is_well = if arguments.worker { worker::run(&arguments) } else { supervisor::run(&arguments) };
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
