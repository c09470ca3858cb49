//! Prints and writes what is made of the sources: `cargo run -p xtask -- --help`.

mod kernels;
mod plots;

use std::process::ExitCode;

use bench_support::{Failure, exit};
use clap::Parser;

/// Prints and writes what is made of proofwarp's sources.
#[derive(Parser)]
#[command(name = "xtask")]
enum Task {
    /// Prints the source of a kernel module as the compiler gets it, or the names of all modules
    Kernels(kernels::Options),
    /// Prints the page of all environment variables, docs/settings.md
    Settings,
    /// Draws the plots of benches again, from the numbers that they wrote
    Plots(plots::Options),
}

fn main() -> ExitCode {
    exit::code("xtask", run(&Task::parse()))
}

fn run(task: &Task) -> Result<(), Failure> {
    match task {
        Task::Kernels(options) => kernels::run(options),
        Task::Settings => {
            print!("{}", proofwarp::settings::table::render_settings_page());
            Ok(())
        }
        Task::Plots(options) => plots::run(options),
    }
}
