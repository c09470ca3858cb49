//! Defines the command line.

use std::path::PathBuf;

use clap::Args;

use super::work::Work;
use crate::backend::Backend;
use crate::{output, program};

/// Proves a circuit with halo2-axiom's types on proofwarp, has halo2-axiom verify the proofs, and
/// shows how long each step takes.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is built; an OpenCL
/// device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// What to prove and how often.
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
    #[arg(long, value_name = "PROGRAM", value_parser = program::path())]
    pub peer: Option<PathBuf>,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE", value_parser = output::file())]
    pub json: Option<PathBuf>,
}

impl Options {
    /// Returns the environment variables that the options stand for.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.backend.variables()
    }
}

#[cfg(test)]
mod tests {
    use super::super::work::Kind;
    use super::*;
    use crate::output::parse;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--json /no/such/folder/results.json", "--json <FILE>': /no/such/folder/results.json: "),
            ("--compare --peer /no/program", "/no/program: expected a program"),
            ("--k 9", "9 is not in 10..=22"),
            ("--k 23", "23 is not in 10..=22"),
            ("--proofs 0", "0 is not in 1.."),
            ("--devices 0", "0 is not in 1.."),
            ("--circuit narrow", "invalid value 'narrow'"),
            ("--opening ipa", "invalid value 'ipa'"),
            ("--backend metal", "invalid value 'metal'"),
            ("proof", "unexpected argument 'proof'"),
        ] {
            let error = parse::<Options>(line).expect_err("refused");
            assert!(error.contains(expected), "{line}: {error}");
        }
        let error = super::super::run(&parse::<Options>("--circuit base").expect("a line")).expect_err("refused");
        assert!(error.to_string().contains("this program has measured or wide, got base; benches/halo2-base has base"));
    }

    #[test]
    fn what_can_be_done_is_taken() {
        let folder = tempfile::tempdir().expect("folder");
        let json = folder.path().join("results.json");
        let line = format!(
            "--circuit=wide --k=22 --opening=gwc --proofs=1 --devices=2 --compare --peer=cargo --json={}",
            json.display()
        );
        let options = parse::<Options>(&line).expect("a line");
        assert_eq!((options.work.circuit, options.work.k), (Kind::Wide, 22));
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0, "left as it was");
    }
}
