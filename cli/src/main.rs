//! Runs `proofwarp`.

use std::process::ExitCode;

#[allow(unsafe_code, reason = "`proofwarp` needs a process without other threads")]
fn main() -> ExitCode {
    // SAFETY: nothing has started a thread before.
    unsafe { proofwarp_cli::proofwarp() }
}
