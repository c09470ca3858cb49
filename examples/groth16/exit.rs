//! How a program ends.

use std::fmt::Display;
use std::process::ExitCode;

/// The exit code of a result, whose error is printed.
pub fn code(result: Result<(), impl Display>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    eprintln!("{}: {error}", env!("CARGO_CRATE_NAME"));
    ExitCode::FAILURE
}
