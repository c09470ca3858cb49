//! binius-gpu's own benchmark of sumcheck (`sumcheck_bench`), run as it is.

use std::path::Path;
use std::process::Command;

use crate::Failure;

/// Holds what it measured for a product of `degree` columns of 2^`log_n` rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Binary logarithm of the number of rows.
    pub log_n: u32,
    /// Number of columns.
    pub degree: usize,
    /// Milliseconds of the rounds, over columns that lie on the device, bit-sliced.
    pub resident: f64,
    /// The same with the copy from the host, and the slicing.
    pub host: f64,
}

/// Runs the program.
///
/// # Errors
/// It does not start, fails, or prints something else.
pub fn run(program: &Path) -> Result<Vec<Times>, Failure> {
    let output = Command::new(program).output().map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), output.status).into());
    }
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Reads lines such as `NUM_VARS: 24 COMPOSITION_SIZE: 2`, and below each `Memcpy:`, `Transpose:`, `Raw:` and `Total:`.
fn parse(text: &str) -> Result<Vec<Times>, Failure> {
    let mut all: Vec<Times> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&words[..], all.last_mut()) {
            (["NUM_VARS:", log_n, "COMPOSITION_SIZE:", degree], _) => {
                all.push(Times { log_n: log_n.parse()?, degree: degree.parse()?, resident: 0.0, host: 0.0 });
            }
            (["Raw:", time], Some(times)) => times.resident = time.parse()?,
            (["Total:", time], Some(times)) => times.host = time.parse()?,
            _ => (),
        }
    }
    match all.iter().find(|times| times.resident <= 0.0 || times.host <= 0.0) {
        Some(times) => Err(format!("expected times of 2^{} rows, got {text}", times.log_n).into()),
        None if all.is_empty() => Err(format!("expected NUM_VARS: and times, got {text}").into()),
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        let text =
            "NUM_VARS: 24 COMPOSITION_SIZE: 2\nMemcpy: 80.8978\nTranspose: 5.26647\nRaw: 54.5602\nTotal: 140.724\n";
        let times = Times { log_n: 24, degree: 2, resident: 54.5602, host: 140.724 };
        assert_eq!(parse(text).expect("times"), [times]);
        let second = text.replace("24", "28").replace("SIZE: 2", "SIZE: 4");
        let both = parse(&format!("{text}{second}")).expect("times");
        assert_eq!((both.len(), both[0], both[1].log_n, both[1].degree), (2, times, 28, 4));
        for text in
            ["", "Raw: 3\nTotal: 4", "NUM_VARS: 24 COMPOSITION_SIZE: 2\nRaw: 54.5", "NUM_VARS: x COMPOSITION_SIZE: 2"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
