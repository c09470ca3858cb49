//! Runs `prover`, which takes the arguments of rapidsnark's program of that name.

use std::process::ExitCode;

fn main() -> ExitCode {
    proofwarp_cli::prover()
}
