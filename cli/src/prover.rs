//! Proves as rapidsnark's program `prover` does: the same arguments, exit codes, and silence if all is well.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use log::LevelFilter;

use crate::output::say;
use crate::progress::Progress;
use crate::prove::{self, ProofFiles};
use crate::warnings;

/// Exit code of every error, as in rapidsnark.
const FAILURE: u8 = 1;

/// Proves with the files that `arguments` name.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    warnings::show(LevelFilter::Error);
    let arguments: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    match <[PathBuf; 4]>::try_from(arguments) {
        Ok([zkey, wtns, proof, public]) => prove(&ProofFiles { zkey, wtns, proof, public }),
        Err(arguments) => {
            say(format_args!("prover (proofwarp): expected 4 arguments, got {}", arguments.len()));
            say("usage: prover <circuit.zkey> <witness.wtns> <proof.json> <public.json>");
            ExitCode::from(FAILURE)
        }
    }
}

fn prove(files: &ProofFiles) -> ExitCode {
    match prove::prove(files, true, &Progress::hidden()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("{error:#}"));
            ExitCode::from(FAILURE)
        }
    }
}
