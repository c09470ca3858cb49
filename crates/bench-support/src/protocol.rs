//! Defines the protocol between benches and the programs of the peers, a line each way.
//!
//! The program first prints the name of its device, or `error` and why it cannot start. A request is `OPERATION PLACE DISTRIBUTION LOG_N ITERATIONS`;
//! the answer is the nanoseconds that the iterations took together and, after a space, what is to be said about
//! them, or `error` and the reason.

use std::fmt;
use std::io::{BufRead, Write};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Holds any error that ends a program.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Inputs in device memory before the clock starts; the result ends on the host.
pub const RESIDENT: &str = "resident";
/// From host slices in pageable memory to a result on the host.
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
    /// One call from host to host.
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

/// The time that calls took, and what is to be said about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// Time of all calls together.
    pub time: Duration,
    /// Remark for the tables.
    pub note: String,
}

impl Answer {
    /// Times `iterations` calls.
    ///
    /// # Errors
    /// Those of a call.
    pub fn timed<T, E>(iterations: u64, mut run: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        let start = Instant::now();
        for _ in 0..iterations {
            run()?;
        }
        Ok(Self { time: start.elapsed(), note: String::new() })
    }

    /// The answer that a line holds.
    ///
    /// # Errors
    /// The line holds an error, or none of both.
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

/// The first line of a program: its name, or why it cannot start.
///
/// # Errors
/// The line holds an error.
pub fn parse_name(line: &str) -> Result<String, Failure> {
    match line.split_once(' ') {
        Some((ERROR, reason)) => Err(reason.into()),
        _ => Ok(line.to_owned()),
    }
}

/// Answers the requests on the standard input until it ends.
///
/// # Errors
/// A line is no request, or nobody reads the answers.
pub fn serve(name: &str, mut answer: impl FnMut(&Request) -> Result<Answer, Failure>) -> Result<(), Failure> {
    println!("{name}");
    for line in std::io::stdin().lock().lines() {
        match answer(&line?.parse()?) {
            Ok(Answer { time, note }) => println!("{} {note}", time.as_nanos()),
            Err(error) => println!("{}", error_line(&error)),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
