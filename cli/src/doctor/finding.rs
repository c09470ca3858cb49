//! Describes faults, and things that could be better.

use std::fmt;

use serde::Serialize;

/// Ranks how bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Correct, and worth saying.
    Note,
    /// It works, but not as well as it could.
    Warning,
    /// It does not work.
    Fault,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Fault => "fault",
        })
    }
}

impl Level {
    /// Returns the exit code of the program if this is its worst level: 0, 1 or 2.
    pub fn exit_code(self) -> u8 {
        self as u8
    }
}

/// Describes a fault or another observation of `proofwarp doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// Name that programs can look for.
    pub name: &'static str,
    /// Observation.
    pub says: String,
    /// Remedy.
    pub mend: String,
}

impl Finding {
    /// Creates a finding: `says` is the observation, `mend` the remedy. Programs recognise the finding by `name`.
    pub fn new(level: Level, name: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { level, name, says: says.into(), mend: mend.into() }
    }
}
