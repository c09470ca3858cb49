//! Ends a program.

use std::fmt::Display;
use std::process::ExitCode;

/// Returns the exit code of `result`, and prints its error behind the name of the `program`.
pub fn code(program: &str, result: Result<(), impl Display>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("{program}: {error}");
    ExitCode::FAILURE
}
