//! The command line.

use std::ops::RangeInclusive;

use clap::Parser;

use crate::measure::Failure;

/// Times MSM and NTT over Pallas and Vesta beside halo2_proofs' own.
#[derive(Parser)]
pub struct Options {
    /// Binary logarithms of the sizes: one, or the first and the last as 14..20.
    #[arg(long, default_value = "14..20")]
    log: String,
    /// Runs whose median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
}

/// The largest size: 2^26 bases take 4 GiB.
const LARGEST: u32 = 26;

impl Options {
    /// The sizes' logarithms.
    pub fn sizes(&self) -> Result<RangeInclusive<u32>, Failure> {
        let (first, last) = self.log.split_once("..").unwrap_or((&self.log, &self.log));
        let range = first.parse()?..=last.parse()?;
        if range.is_empty() || *range.end() > LARGEST {
            return Err(format!("--log {}: expected one of 0 to {LARGEST}, or a range of them", self.log).into());
        }
        Ok(range)
    }
}
