//! Defines the command-line options that say what to prove.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// A kind of circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// 12 advice, 14 fixed columns, 3 lookups, 13 columns in the permutation, all rows filled
    Measured,
    /// 48 advice, 50 fixed columns, 8 lookups, 49 columns in the permutation, all rows filled
    Wide,
    /// halo2-base's gates: range checks, additions of points of BN254's G1, Poseidon (a program of its own)
    Base,
}

/// How polynomials are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Opening {
    /// Two points, whatever is opened where
    Shplonk,
    /// A point for each point of evaluation
    Gwc,
}

/// The work, for this program and for those beside it.
#[derive(Debug, Clone, Args)]
pub struct Work {
    /// What to prove
    #[arg(long, value_enum, default_value = "measured")]
    pub circuit: Kind,
    /// Binary logarithm of the number of rows
    #[arg(long, value_name = "K", default_value_t = 14, value_parser = clap::value_parser!(u32).range(10..=22))]
    pub k: u32,
    /// How polynomials are opened
    #[arg(long, value_enum, default_value = "shplonk")]
    pub opening: Opening,
    /// Timed proofs after the first one
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub proofs: u32,
}

impl Work {
    /// Returns the same options as arguments of another program.
    pub fn arguments(&self) -> Vec<OsString> {
        let (circuit, opening) = (name(&self.circuit), name(&self.opening));
        let Self { k, proofs, .. } = self;
        [
            format!("--circuit={circuit}"),
            format!("--k={k}"),
            format!("--opening={opening}"),
            format!("--proofs={proofs}"),
        ]
        .map(OsString::from)
        .to_vec()
    }
}

/// Returns the name by which the command line takes `value`.
pub fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
