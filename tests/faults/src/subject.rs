//! What is proved under faults.

use std::fmt;

use clap::ValueEnum;
use proofwarp::{Accelerator, Error};

use crate::hook::Questions;

/// Provers that a process has together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Group {
    Sumcheck,
    Groth16,
    Bellperson,
    Halo2,
}

impl Group {
    /// Of a hundred faults, those of the group.
    pub fn share(self) -> usize {
        match self {
            Self::Sumcheck => 70,
            Self::Groth16 => 18,
            Self::Bellperson => 4,
            Self::Halo2 => 8,
        }
    }

    /// Whether its provers have the process's own accelerator, which is made once.
    pub fn is_global(self) -> bool {
        self == Self::Bellperson
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sumcheck => "sumcheck",
            Self::Groth16 => "groth16",
            Self::Bellperson => "bellperson",
            Self::Halo2 => "halo2",
        })
    }
}

/// Why there is no proof.
#[derive(Debug)]
pub enum Refusal {
    Engine(Error),
    Other(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => write!(f, "{error}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// A prover with its inputs.
pub trait Subject {
    fn name(&self) -> String;

    /// Whether it checks a proof before it hands it out: only then is a silent fault noticed.
    fn is_checked(&self) -> bool;

    /// Whether it brings inputs to the device as a caller does, whose inputs are not what they should be where that goes wrong.
    fn uploads(&self) -> bool {
        false
    }

    /// Whether its interface has no error for this text, and the documentation says that it panics with it.
    fn may_panic_with(&self, _: &str) -> bool {
        false
    }

    /// Proves by an accelerator that may fall back to the host, or not: whether an independent verifier accepts the proof.
    ///
    /// # Errors
    /// There is no proof.
    fn prove(&self, accelerator: &Accelerator, questions: &Questions) -> Result<bool, Refusal>;
}
