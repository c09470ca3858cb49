//! Answers of programs that another one runs: the last line that they print, as JSON.

use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Failure, exit};

/// Prints `outcome` as a line, or its error behind the name of the `program`.
pub fn print(program: &str, outcome: Result<impl Serialize, Failure>) -> ExitCode {
    let line = outcome.and_then(|outcome| Ok(serde_json::to_string(&outcome)?));
    exit::code(program, line.map(|line| println!("{line}")))
}

/// Runs `command` and reads its answer.
///
/// # Errors
/// Returns an error if the program cannot be run, fails, or says nothing that can be read; the text names it.
pub fn read<T: DeserializeOwned>(mut command: Command) -> Result<T, Failure> {
    let program = Path::new(command.get_program()).display().to_string();
    let output = command.stdout(Stdio::piped()).spawn().and_then(Child::wait_with_output);
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", output.status).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().ok_or_else(|| format!("{program} said nothing"))?;
    serde_json::from_str(last).map_err(|error| format!("{program}: {error} in {last}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_last_line_is_read_and_errors_name_the_program() {
        let run = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            read::<Vec<u32>>(command)
        };
        assert_eq!(run("echo building; echo '[1,2]'").expect("an answer"), [1, 2]);
        for (script, expected) in [("exit 7", "sh: exit status: 7"), ("true", "said nothing"), ("echo none", "in none")]
        {
            let error = run(script).expect_err("no answer").to_string();
            assert!(error.starts_with("sh") && error.contains(expected), "{error}");
        }
    }
}
