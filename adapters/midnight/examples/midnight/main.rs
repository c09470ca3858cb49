//! Commitments and whole proofs of midnight-proofs, by its own scheme and by proofwarp's, in one run.
//!
//! `cargo run --release --features cuda --example midnight -- --log 16..20 --proof 16`

mod circuit;
mod measure;

use std::ops::RangeInclusive;

use clap::Parser;
use comfy_table::{Table, presets};
use proofwarp::Accelerator;

use measure::Failure;

#[derive(Parser)]
#[command(about = "midnight-proofs' commitments and proofs, by its own scheme and by proofwarp's")]
struct Arguments {
    /// Sizes of the commitments, as logarithms: 16, or 16..20 with both ends.
    #[arg(long, default_value = "10..12", value_parser = sizes)]
    log: RangeInclusive<u32>,
    /// Sizes of the proofs, in the same form.
    #[arg(long, default_value = "10", value_parser = sizes)]
    proof: RangeInclusive<u32>,
    /// Runs of which the median is taken, after one that does not count.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

fn sizes(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("expected a number, got {text:?}"));
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let range = number(first)?..=number(last)?;
    let fits = *range.start() >= 6 && *range.end() <= 24 && !range.is_empty();
    if fits { Ok(range) } else { Err(format!("expected sizes of 6 to 24, the smaller one first, got {text}")) }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let accelerator = Accelerator::from_env()?;
    println!("{}", accelerator.devices().first().map_or("cpu".to_owned(), |device| device.info().name.clone()));
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["what", "log n", "midnight-proofs, ms", "proofwarp, ms", "times"]);
    let commitments = arguments.log.map(|k| measure::commitments(&accelerator, k, arguments.runs));
    let proofs = arguments.proof.map(|k| measure::proofs(&accelerator, k, arguments.runs));
    for lines in commitments.chain(proofs) {
        for line in lines? {
            println!("{line}");
            table.add_row(line.cells());
        }
    }
    println!("{table}");
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
