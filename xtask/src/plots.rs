//! `xtask plots benches/plots target/bench/msm.json` draws the plots of benches again, from the numbers that they wrote.

use std::path::PathBuf;

use bench_support::results::Results;
use bench_support::{Failure, output, plot};
use clap::Args;

/// Options of `plots`.
#[derive(Args)]
pub struct Options {
    /// Where the plots go
    folder: PathBuf,
    /// Numbers of one bench; of what several runs measured, the last counts
    #[arg(required = true)]
    numbers: Vec<PathBuf>,
    /// Writes the numbers of all runs together there
    #[arg(long, value_name = "FILE", value_parser = output::file())]
    merged: Option<PathBuf>,
}

/// Draws the plots of all numbers together.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub fn run(options: &Options) -> Result<(), Failure> {
    output::check_folder(&options.folder)?;
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
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn run_line(line: Vec<String>) -> Result<(), Failure> {
        run(&Line::try_parse_from(line)?.options)
    }

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
            let error = run_line(line.collect()).expect_err("refused").to_string();
            assert!(error.contains(&format!("{expected}: ")), "{error}");
        }
    }
}
