//! Draws the plots of benches again, from the numbers that they wrote.
//!
//! `cargo run --example plots -- benches/plots target/bench/msm.json`

#[path = "../benches/common/inputs.rs"]
#[allow(dead_code, reason = "the benches use more of it")]
mod inputs;
#[path = "../benches/common/plot.rs"]
mod plot;
#[path = "../benches/common/results.rs"]
#[allow(dead_code, reason = "the benches use more of it")]
mod results;

use std::path::PathBuf;

use clap::Parser;
use results::Results;

/// Draws the plots of a bench.
#[derive(Parser)]
struct Options {
    /// Where the plots go.
    folder: PathBuf,
    /// Numbers of one bench; of what several runs measured, the last counts.
    #[arg(required = true)]
    numbers: Vec<PathBuf>,
    /// Writes the numbers of all runs together there.
    #[arg(long)]
    merged: Option<PathBuf>,
}

fn main() -> Result<(), plot::Failure> {
    let options = Options::parse();
    let mut results = Results::default();
    for path in &options.numbers {
        let read = Results::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        results.merge(read);
    }
    if let Some(path) = &options.merged {
        results.write(path)?;
    }
    std::fs::create_dir_all(&options.folder)?;
    for path in plot::write(&results, &options.folder)? {
        println!("{}", path.display());
    }
    Ok(())
}
