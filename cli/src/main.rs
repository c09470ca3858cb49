//! Runs `proofwarp`.

use std::process::ExitCode;

fn main() -> ExitCode {
    proofwarp_cli::proofwarp()
}
