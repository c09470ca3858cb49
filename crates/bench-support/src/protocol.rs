//! Defines the protocol between benches and the programs of the peers, a line each way.
//!
//! The program first prints the name of its device. If it cannot start, it prints `error` and the reason. A request is
//! `OPERATION PLACE DISTRIBUTION LOG_N ITERATIONS`. The answer is the time of all iterations in nanoseconds, a space
//! and a remark. If the measurement fails, the answer is `error` and the reason.

use std::fmt;
use std::io::{BufRead, Write};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Holds any error that ends a program.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Place of a measurement whose inputs are in device memory before the clock starts. The result ends on the host.
pub const RESIDENT: &str = "resident";
/// Place of a measurement that goes from host slices in pageable memory to a result on the host.
pub const HOST: &str = "host";

/// One measurement that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Such as `msm_bls12_381_g1` or `ntt_bn254_fr`.
    pub operation: String,
    /// [`RESIDENT`] or [`HOST`].
    pub place: String,
    /// How the scalars are distributed.
    pub distribution: String,
    /// Binary logarithm of the size.
    pub log_n: u32,
    /// Calls between two looks at the clock.
    pub iterations: u64,
}

impl Request {
    /// Creates a request for one call of `operation` from host to host.
    pub fn new(operation: &str, distribution: &str, log_n: u32) -> Self {
        let (operation, place) = (operation.to_owned(), HOST.to_owned());
        Self { operation, place, distribution: distribution.to_owned(), log_n, iterations: 1 }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, place, log_n, iterations, .. } = self;
        write!(f, "{operation} {place} {} {log_n} {iterations}", self.distribution.replace(' ', "_"))
    }
}

impl FromStr for Request {
    type Err = Failure;

    fn from_str(line: &str) -> Result<Self, Failure> {
        let [operation, place, distribution, log_n, iterations] = *line.split_whitespace().collect::<Vec<_>>() else {
            return Err(format!("expected OPERATION PLACE DISTRIBUTION LOG_N ITERATIONS, got {line}").into());
        };
        Ok(Self {
            operation: operation.to_owned(),
            place: place.to_owned(),
            distribution: distribution.replace('_', " "),
            log_n: log_n.parse()?,
            iterations: iterations.parse()?,
        })
    }
}

/// The time that calls took, and a remark about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Time of all calls together.
    pub time: Duration,
    /// Remark for the tables.
    pub note: String,
}

impl Answer {
    /// Times `iterations` calls of `run`.
    ///
    /// # Errors
    /// Returns the first error of `run`.
    pub fn timed<T, E>(iterations: u64, mut run: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        let start = Instant::now();
        for _ in 0..iterations {
            run()?;
        }
        Ok(Self { time: start.elapsed(), note: String::new() })
    }

    /// Parses `line` as an answer.
    ///
    /// # Errors
    /// Returns the error that `line` holds, or an error if `line` is malformed.
    pub fn parse(line: &str) -> Result<Self, Failure> {
        match line.split_once(' ').unwrap_or((line, "")) {
            (ERROR, reason) => Err(reason.into()),
            (time, note) => Ok(Self { time: Duration::from_nanos(time.parse()?), note: note.to_owned() }),
        }
    }
}

/// Begins the line of a failure.
const ERROR: &str = "error";

/// Formats a failure as a line of the protocol.
pub fn error_line(error: &Failure) -> String {
    format!("{ERROR} {}", error.to_string().replace('\n', " "))
}

/// Parses the first line of a program as the name of its device.
///
/// # Errors
/// Returns the error that `line` holds if the program cannot start.
pub fn parse_name(line: &str) -> Result<String, Failure> {
    match line.split_once(' ') {
        Some((ERROR, reason)) => Err(reason.into()),
        _ => Ok(line.to_owned()),
    }
}

/// Prints `name`, then answers the requests on standard input by `answer` until the input ends.
///
/// # Errors
/// Returns an error if standard input cannot be read, if a line is no request, or if standard output cannot be written.
pub fn serve(name: &str, mut answer: impl FnMut(&Request) -> Result<Answer, Failure>) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    writeln!(out, "{name}")?;
    for line in std::io::stdin().lock().lines() {
        match answer(&line?.parse()?) {
            Ok(Answer { time, note }) => writeln!(out, "{} {note}", time.as_nanos())?,
            Err(error) => writeln!(out, "{}", error_line(&error))?,
        }
        out.flush()?;
    }
    Ok(())
}
