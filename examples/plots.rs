//! Draws the plots of benches again, from the numbers that they wrote.
//!
//! `cargo run --example plots -- benches/plots target/bench/msm.json`

#![allow(clippy::duplicate_mod, reason = "files shared by examples and benches are shared by these too")]

#[cfg(test)]
#[path = "../benches/common/binius.rs"]
#[allow(dead_code, reason = "a bench uses it, and has no harness for its tests")]
mod binius;
#[path = "groth16/exit.rs"]
mod exit;
#[path = "../benches/common/inputs.rs"]
#[allow(dead_code, reason = "the benches use more of it")]
mod inputs;
#[path = "groth16/output.rs"]
#[allow(dead_code, reason = "the examples that prove use the rest")]
mod output;
#[path = "../benches/common/plot.rs"]
mod plot;
#[path = "../benches/common/results.rs"]
#[allow(dead_code, reason = "the benches use more of it")]
mod results;
#[cfg(test)]
#[path = "../benches/common/variables.rs"]
#[allow(dead_code, reason = "benches use it, and have no harness for its tests")]
mod variables;

use std::path::PathBuf;
use std::process::ExitCode;

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

fn main() -> ExitCode {
    exit::code(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), plot::Failure> {
    output::check_folder(&options.folder)?;
    options.merged.iter().try_for_each(|path| output::check(path).map_err(|error| format!("--merged: {error}")))?;
    let mut results = Results::default();
    for path in &options.numbers {
        let read = Results::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        results.merge(read);
    }
    if let Some(path) = &options.merged {
        results.write(path)?;
    }
    for path in plot::write(&results, &options.folder)? {
        println!("{}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_or_written_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let at = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(at("empty.json"), "").expect("file");
        let (plots, absent, empty) = (at("plots"), at("absent.json"), at("empty.json"));
        let merged = at("no/merged.json");
        for (line, expected) in [
            (vec![&plots, &absent], &absent),
            (vec![&plots, &empty], &empty),
            (vec![&empty, &absent], &empty),
            (vec![&plots, &empty, &"--merged".to_owned(), &merged], &merged),
        ] {
            let line = ["plots".to_owned()].into_iter().chain(line.into_iter().cloned());
            let error = run(&Options::parse_from(line)).expect_err("refused").to_string();
            assert!(error.contains(&format!("{expected}: ")), "{error}");
        }
    }
}
