//! What is wrong, or could be better.

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be, and worth saying.
    Note,
    /// It works, but not as well as it could.
    Warning,
    /// It does not work.
    Fault,
}

impl Level {
    /// The program's exit code.
    pub fn exit_code(self) -> u8 {
        self as u8
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// A name that programs can look for.
    pub name: &'static str,
    /// What is so.
    pub says: String,
    /// What to do.
    pub mend: String,
}

impl Finding {
    /// A finding.
    pub fn new(level: Level, name: &'static str, says: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { level, name, says: says.into(), mend: mend.into() }
    }
}
