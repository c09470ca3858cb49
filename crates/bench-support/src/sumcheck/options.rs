//! Defines the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::backend::Backend;
use crate::output;

/// Commits to random columns, proves that their product adds up to its sum, verifies the proof and the openings of the commitment,
/// and shows what ran where and for how long.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is built; an OpenCL
/// device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`. Goldilocks and BabyBear need the feature `plonky3`.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// The field
    #[arg(long, value_enum, default_value = "tower")]
    pub field: Field,
    /// Variables, the binary logarithm of the number of rows
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=30))]
    pub vars: u32,
    /// Columns that are multiplied
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = degree)]
    pub degree: usize,
    /// Multiplies by eq of a random point too
    #[arg(long)]
    pub eq: bool,
    /// Where columns lie before a proof
    #[arg(long, value_enum, default_value = "host")]
    pub columns: Lying,
    /// Timed proofs after the first one
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub proofs: u32,
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Proves the same by every path that there is, and on the CPU
    #[arg(long)]
    pub compare: bool,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE", value_parser = output::file())]
    pub json: Option<PathBuf>,
}

/// A field by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Field {
    /// GF(2^128) as tower of Fan and Paar
    Tower,
    /// GF(2^128) in the basis of GHASH
    Ghash,
    /// Scalars of BN254
    Bn254,
    /// Scalars of BLS12-381
    #[value(name = "bls12-381")]
    Bls12381,
    /// Scalars of Vesta
    PastaFp,
    /// Scalars of Pallas
    PastaFq,
    /// Plonky3's Goldilocks, with challenges in its quadratic extension
    #[cfg(feature = "plonky3")]
    Goldilocks,
    /// That extension, for columns too
    #[cfg(feature = "plonky3")]
    Goldilocks2,
    /// Plonky3's BabyBear, with challenges in its quartic extension
    #[cfg(feature = "plonky3")]
    #[value(name = "babybear")]
    BabyBear,
    /// That extension, for columns too
    #[cfg(feature = "plonky3")]
    #[value(name = "babybear4")]
    BabyBear4,
}

/// Where columns lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lying {
    /// In the host's memory
    Host,
    /// In page-locked memory of the host
    Pinned,
    /// On the device, where they stay
    Device,
}

fn degree(text: &str) -> Result<usize, String> {
    let degree = text.parse().ok().filter(|degree| (1..=proofwarp::sumcheck::MAX_FACTORS).contains(degree));
    degree.ok_or_else(|| format!("expected 1 to {}", proofwarp::sumcheck::MAX_FACTORS))
}

impl Options {
    /// Returns the environment variables that the options stand for.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.backend.variables()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::parse;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--json /no/such/folder/results.json", "--json <FILE>': /no/such/folder/results.json: "),
            ("--vars 31", "31 is not in 0..=30"),
            ("--degree 0", "expected 1 to 6"),
            ("--degree 7", "expected 1 to 6"),
            ("--proofs 0", "0 is not in 1.."),
            ("--field gf3", "invalid value 'gf3'"),
            ("--columns disk", "invalid value 'disk'"),
            ("--backend metal", "invalid value 'metal'"),
            ("proof", "unexpected argument 'proof'"),
        ] {
            let error = parse::<Options>(line).expect_err("refused");
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn what_can_be_done_is_taken() {
        let line = "--field=bls12-381 --vars=0 --degree=6 --eq --columns=device --compare";
        let options = parse::<Options>(line).expect("a line");
        assert_eq!((options.vars, options.degree, options.field), (0, 6, Field::Bls12381));
    }
}
