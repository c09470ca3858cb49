//! `proofwarp bench midnight`: times commitments and whole proofs of midnight-proofs, by its own scheme and by proofwarp's, and
//! compares their results.

mod circuit;
mod measure;

use std::ops::RangeInclusive;

use proofwarp::Accelerator;

use crate::backend::Backend;
use crate::{Failure, device, table};

pub use circuit::Filled;

/// Times midnight-proofs' commitments and proofs, by its own scheme and by proofwarp's.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Sizes of the commitments, as logarithms: 16, or 16..20 with both ends
    #[arg(long, default_value = "10..12", value_parser = sizes)]
    pub log: RangeInclusive<u32>,
    /// Sizes of the proofs, in the same form
    #[arg(long, default_value = "10", value_parser = sizes)]
    pub proof: RangeInclusive<u32>,
    /// Number of timed runs, after one to warm up; the median is reported
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Where to run; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
}

impl Options {
    /// Returns the environment variables that the options stand for.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.backend.variables()
    }
}

fn sizes(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("expected a number, got {text:?}"));
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let range = number(first)?..=number(last)?;
    let fits = *range.start() >= 6 && *range.end() <= 24 && !range.is_empty();
    if fits { Ok(range) } else { Err(format!("expected sizes of 6 to 24, the smaller one first, got {text}")) }
}

/// Runs the program, and prints a line for each size and then a table.
///
/// # Errors
/// Returns an error if a step fails, if results differ, or if a proof does not verify.
pub fn run(options: &Options) -> Result<(), Failure> {
    let accelerator = Accelerator::from_env()?;
    device::announce_all(&accelerator);
    let commitments = options.log.clone().map(|k| measure::commitments(&accelerator, k, options.runs));
    let proofs = options.proof.clone().map(|k| measure::proofs(&accelerator, k, options.runs));
    let mut rows = Vec::new();
    for lines in commitments.chain(proofs) {
        for line in lines? {
            println!("{line}");
            rows.push(line.cells());
        }
    }
    println!("{}", table::new(&["what", "log n", "midnight-proofs, ms", "proofwarp, ms", "times"], 1..5, rows));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert_eq!((sizes("7..9"), sizes("8")), (Ok(7..=9), Ok(8..=8)));
        for text in ["", "5", "9..7", "25", "a..b", "7..8..9"] {
            assert!(sizes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn both_commit_and_prove() {
        let accelerator = Accelerator::from_env().expect("accelerator");
        let lines = [measure::commitments(&accelerator, 6, 1), measure::proofs(&accelerator, 7, 1)];
        let what: Vec<String> =
            lines.into_iter().flat_map(|lines| lines.expect("lines")).map(|line| line.what).collect();
        assert_eq!(what, ["commitment of coefficients", "commitment of values", "proof"]);
    }
}
