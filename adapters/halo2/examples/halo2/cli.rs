//! The command line.

#[path = "../../../../examples/groth16/backend.rs"]
mod backend;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};

pub use backend::Backend;

use crate::output;
use crate::prove::Opening;
use crate::shape::{Kind, Shape};

/// Proves a circuit whose rows are all filled with halo2-axiom's types on proofwarp, has halo2-axiom verify the proofs, and
/// shows how long each step takes.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is built; an OpenCL
/// device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`.
#[derive(Debug, Parser)]
#[command(name = "halo2", after_help = EXAMPLES)]
pub struct Options {
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
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Makes keys and proofs of the same by halo2-axiom's own functions too
    #[arg(long)]
    pub compare: bool,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  halo2                                            2^14 rows, on the best backend
  halo2 --k 20 --backend cuda                      on NVIDIA GPUs or not at all
  halo2 --circuit wide --k 18 --compare            against halo2-axiom on this machine's cores
  halo2 --opening gwc --proofs 10 --json out.json";

impl Options {
    /// The options of a command line, checked before there is any work.
    ///
    /// # Errors
    /// The line is malformed, or a file cannot be written.
    pub fn checked(line: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        let options = Self::try_parse_from(line)?;
        match options.json.as_deref().map(output::check) {
            Some(Err(text)) => Err(Self::command().error(ErrorKind::ValueValidation, format!("--json: {text}"))),
            _ => Ok(options),
        }
    }

    /// The circuit to prove.
    pub fn shape(&self) -> Shape {
        Shape::new(self.circuit, self.k)
    }
}

/// A value as the command line takes it.
pub fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--json /no/such/folder/results.json", "--json: /no/such/folder/results.json: "),
            ("--k 9", "9 is not in 10..=22"),
            ("--k 23", "23 is not in 10..=22"),
            ("--proofs 0", "0 is not in 1.."),
            ("--circuit narrow", "invalid value 'narrow'"),
            ("--opening ipa", "invalid value 'ipa'"),
            ("--backend metal", "invalid value 'metal'"),
            ("proof", "unexpected argument 'proof'"),
        ] {
            let words = ["halo2"].into_iter().chain(line.split_whitespace());
            let error = Options::checked(words).expect_err("refused");
            assert!(error.exit_code() == 2 && error.to_string().contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn what_can_be_done_is_taken() {
        let folder = tempfile::tempdir().expect("folder");
        let json = format!("--json={}", folder.path().join("results.json").display());
        let line = ["halo2", "--circuit=wide", "--k=22", "--opening=gwc", "--proofs=1", "--compare", &json];
        let options = Options::checked(line).expect("a line");
        assert_eq!((options.shape().advice, options.shape().k), (48, 22));
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0, "left as it was");
    }
}
