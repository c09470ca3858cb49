//! What a program that the example `groth16` runs answers it.

use std::process::ExitCode;

use crate::Failure;
use crate::outcome::Outcome;

/// Prints the outcome as a line of JSON, or the error.
pub fn answer(outcome: Result<Outcome, Failure>) -> ExitCode {
    match outcome.and_then(|outcome| Ok(serde_json::to_string(&outcome)?)) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", env!("CARGO_BIN_NAME"));
            ExitCode::FAILURE
        }
    }
}
