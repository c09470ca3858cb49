//! What a worker says of its runs, a line each.

use std::fmt;
use std::str::FromStr;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A proof that the verifier accepts.
    Valid,
    /// An error.
    Error,
    /// An invalid proof after a silent fault, of a prover without a final check.
    Unchecked,
    /// An invalid proof.
    Invalid,
    /// An error that says that the caller's inputs are wrong.
    Blames,
    /// An abort that nobody asked for.
    FalseAbort,
    /// A panic.
    Panic,
    /// No end.
    Hang,
    /// The process ended.
    Crash,
    /// A proof after the run fails, or is invalid.
    After,
    /// Something is left of the run.
    Leak,
}

/// All of them, by columns of the table.
pub const OUTCOMES: [Outcome; 11] = [
    Outcome::Valid,
    Outcome::Error,
    Outcome::Unchecked,
    Outcome::Invalid,
    Outcome::Blames,
    Outcome::FalseAbort,
    Outcome::Panic,
    Outcome::Hang,
    Outcome::Crash,
    Outcome::After,
    Outcome::Leak,
];

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "valid",
            Self::Error => "error",
            Self::Unchecked => "unchecked",
            Self::Invalid => "INVALID",
            Self::Blames => "BLAMES",
            Self::FalseAbort => "FALSE ABORT",
            Self::Panic => "PANIC",
            Self::Hang => "HANG",
            Self::Crash => "CRASH",
            Self::After => "AFTER",
            Self::Leak => "LEAK",
        })
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = OUTCOMES.into_iter().find(|outcome| outcome.to_string() == text);
        found.ok_or_else(|| format!("no outcome: {text}"))
    }
}

/// A worker's line.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// All is warm.
    Ready,
    /// A run begins, of these faults.
    Start { seed: u64, subject: String, faults: String },
    /// It ended. `fired` is how many faults there were, `memory` the process's resident KiB.
    End { outcome: Outcome, fired: usize, memory: u64, detail: String },
    /// The device does not work any more, as one that was driven wrong does not.
    Gone,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Gone => f.write_str("gone"),
            Self::Start { seed, subject, faults } => write!(f, "start\t{seed}\t{subject}\t{faults}"),
            Self::End { outcome, fired, memory, detail } => write!(f, "end\t{outcome}\t{fired}\t{memory}\t{detail}"),
        }
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().map_err(|error| format!("{text}: {error}"));
        let parts: Vec<&str> = text.trim_end().split('\t').collect();
        match parts[..] {
            ["ready"] => Ok(Self::Ready),
            ["gone"] => Ok(Self::Gone),
            ["start", seed, subject, faults] => {
                Ok(Self::Start { seed: number(seed)?, subject: subject.to_owned(), faults: faults.to_owned() })
            }
            ["end", outcome, fired, memory, ref detail @ ..] => Ok(Self::End {
                outcome: outcome.parse()?,
                fired: number(fired)? as usize,
                memory: number(memory)?,
                detail: detail.join(" "),
            }),
            _ => Err(format!("no line of a worker: {text}")),
        }
    }
}
