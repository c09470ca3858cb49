//! Defines the one error type of the crate.

use std::io;

/// Result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Tells the file and the section at fault, the expected value and the actual one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system cannot open, read or map the file, or there is too little memory for it.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A mapped file is no longer as it was when it was opened.
    #[error("{file}: changed while it was mapped: expected {expected}, got {actual}")]
    Changed {
        /// The file.
        file: String,
        /// The state when it was opened.
        expected: String,
        /// The state now.
        actual: String,
    },
    /// The contents break the file's format.
    #[error("{file}: {section}: {what}: expected {expected}, got {actual}")]
    Malformed {
        /// The file.
        file: String,
        /// The section of a binary file, the field of a JSON file.
        section: Box<str>,
        /// The value at fault.
        what: String,
        /// The expected value.
        expected: String,
        /// The actual value.
        actual: String,
    },
    /// The contents keep to the format, but this crate does not know the protocol, version or curve.
    #[error("{file}: {section}: {what} is not supported: expected {expected}, got {actual}")]
    Unsupported {
        /// The file.
        file: String,
        /// The section of a binary file, the field of a JSON file.
        section: Box<str>,
        /// The property.
        what: String,
        /// The supported values.
        expected: String,
        /// The actual value.
        actual: String,
    },
    /// Two files are of different curves.
    #[error("{file}: {section}: expected the curve {expected} of the key, got {actual}")]
    OtherCurve {
        /// The file whose curve is not the key's.
        file: String,
        /// The section of a binary file, the field of a JSON file.
        section: Box<str>,
        /// The key's curve.
        expected: String,
        /// The file's curve.
        actual: String,
    },
    /// The witness has more or fewer values than the proving key has signals.
    #[error("{file}: {section}: expected the {expected} values of the key's signals, got {actual}")]
    WitnessLength {
        /// The witness.
        file: String,
        /// Its section.
        section: Box<str>,
        /// The key's number of signals.
        expected: u32,
        /// The number of values.
        actual: u32,
    },
    /// A proof was made and does not verify. The witness does not satisfy the circuit, or the key is damaged.
    #[error("{file}: the proof does not verify: expected a witness that satisfies the key's circuit, got another")]
    InvalidProof {
        /// The witness.
        file: String,
    },
    /// The system's generator gives no random bytes, without which no proof is zero-knowledge.
    #[error("the system's generator gives no random bytes: {reason}")]
    Randomness {
        /// The system's reason.
        reason: String,
    },
    /// A circuit of arkworks gives an error instead of its constraints or values.
    #[error("the circuit cannot be synthesised: {reason}")]
    Synthesis {
        /// The circuit's error.
        reason: String,
    },
    /// The engine cannot make the proof.
    #[error(transparent)]
    Engine(#[from] proofwarp::Error),
}

/// Names a section of a file, or a field of a JSON file, for errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileSection<'a> {
    pub file: &'a str,
    pub section: &'a str,
}

impl FileSection<'_> {
    /// Returns the error for a value `what` that breaks the format.
    pub(crate) fn malformed(&self, what: impl Into<String>, expected: impl ToString, actual: impl ToString) -> Error {
        let (file, section) = (self.file.to_owned(), self.section.into());
        let [expected, actual] = [expected.to_string(), actual.to_string()];
        Error::Malformed { file, section, what: what.into(), expected, actual }
    }

    /// Returns the error for a property `what` with a value that this crate does not know.
    pub(crate) fn unsupported(&self, what: impl Into<String>, expected: impl ToString, actual: impl ToString) -> Error {
        let (file, section) = (self.file.to_owned(), self.section.into());
        let [expected, actual] = [expected.to_string(), actual.to_string()];
        Error::Unsupported { file, section, what: what.into(), expected, actual }
    }

    /// Returns the error for a file of the curve `actual` beside a key of the curve `expected`.
    pub(crate) fn other_curve(&self, expected: impl ToString, actual: impl ToString) -> Error {
        let (file, section) = (self.file.to_owned(), self.section.into());
        Error::OtherCurve { file, section, expected: expected.to_string(), actual: actual.to_string() }
    }
}
