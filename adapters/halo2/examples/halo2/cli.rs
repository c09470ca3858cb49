//! The command line.

#[path = "../../../../examples/groth16/backend.rs"]
mod backend;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

pub use backend::Backend;

use crate::options::{Kind, Work, name};
use crate::{output, program};

/// Proves a circuit with halo2-axiom's types on proofwarp, has halo2-axiom verify the proofs, and
/// shows how long each step takes.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is built; an OpenCL
/// device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`.
#[derive(Debug, Parser)]
#[command(name = "halo2", after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub work: Work,
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Devices that share each of proofwarp's proofs, at most; without it as many as pay
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub devices: Option<u32>,
    /// Makes keys and proofs of the same by halo2-axiom's own functions too, and by halo2-axiom-gpu where its program is
    #[arg(long)]
    pub compare: bool,
    /// The program of halo2-axiom-gpu, which makes them too; for `--compare` without it, the one that benches/halo2-axiom-gpu
    /// has built
    #[arg(long, value_name = "PROGRAM")]
    pub peer: Option<PathBuf>,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  halo2                                            2^14 rows, on the best backend
  halo2 --k 20 --backend cuda                      on NVIDIA GPUs or not at all
  halo2 --k 20 --devices 1                         on one of several devices
  halo2 --circuit wide --k 18 --compare            against halo2-axiom on this machine's cores
  halo2 --k 18 --peer ./halo2-axiom-gpu-proofs     against the published halo2-axiom-gpu alone
  halo2 --opening gwc --proofs 10 --json out.json";

impl Options {
    /// The options of a command line, checked before there is any work, of a program that has some of the circuits.
    ///
    /// # Errors
    /// The line is malformed, the program has no such circuit, a file cannot be written, or there is no such program.
    pub fn checked(
        line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
        kinds: &[Kind],
    ) -> Result<Self, clap::Error> {
        let options = Self::try_parse_from(line)?;
        if !kinds.contains(&options.work.circuit) {
            let names = kinds.iter().map(name).collect::<Vec<_>>().join(" or ");
            let got = name(&options.work.circuit);
            let text = format!("--circuit: this program has {names}, got {got}; examples/halo2-base has base");
            return Err(Self::command().error(ErrorKind::ValueValidation, text));
        }
        let json = options.json.as_deref().map(output::check).transpose().map_err(|text| format!("--json: {text}"));
        let peer = options.peer.as_deref().map(program::check).transpose().map_err(|text| format!("--peer: {text}"));
        match json.and(peer) {
            Err(text) => Err(Self::command().error(ErrorKind::ValueValidation, text)),
            Ok(_) => Ok(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--json /no/such/folder/results.json", "--json: /no/such/folder/results.json: "),
            ("--compare --peer /no/program", "--peer: /no/program: expected a program"),
            ("--k 9", "9 is not in 10..=22"),
            ("--k 23", "23 is not in 10..=22"),
            ("--proofs 0", "0 is not in 1.."),
            ("--devices 0", "0 is not in 1.."),
            ("--circuit base", "this program has measured or wide, got base; examples/halo2-base has base"),
            ("--circuit narrow", "invalid value 'narrow'"),
            ("--opening ipa", "invalid value 'ipa'"),
            ("--backend metal", "invalid value 'metal'"),
            ("proof", "unexpected argument 'proof'"),
        ] {
            let words = ["halo2"].into_iter().chain(line.split_whitespace());
            let error = Options::checked(words, &[Kind::Measured, Kind::Wide]).expect_err("refused");
            assert!(error.exit_code() == 2 && error.to_string().contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn what_can_be_done_is_taken() {
        let folder = tempfile::tempdir().expect("folder");
        let json = format!("--json={}", folder.path().join("results.json").display());
        let line = [
            "halo2",
            "--circuit=wide",
            "--k=22",
            "--opening=gwc",
            "--proofs=1",
            "--devices=2",
            "--compare",
            "--peer=cargo",
            &json,
        ];
        let options = Options::checked(line, &[Kind::Wide]).expect("a line");
        assert_eq!((options.work.circuit, options.work.k), (Kind::Wide, 22));
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0, "left as it was");
    }
}
