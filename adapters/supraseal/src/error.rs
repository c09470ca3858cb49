//! Defines the one error type of the crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Describes why there are no parameters or no proofs.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parameter file cannot be read.
    #[error("{}: {reason}", .path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        #[source]
        reason: Arc<std::io::Error>,
    },
    /// The file is not a parameter file.
    #[error("{}: {what}: expected {expected}, got {actual}", .path.display())]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// Part of the file that is malformed.
        what: String,
        /// Expected value.
        expected: String,
        /// Actual value.
        actual: String,
    },
    /// The file's parameters cannot be used.
    #[error("{}: {reason}", .path.display())]
    Unusable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the engine.
        #[source]
        reason: proofwarp::Error,
    },
    /// An argument or a setting has an invalid value.
    #[error("{what}: expected {expected}, got {actual}")]
    Invalid {
        /// Name of the argument or setting.
        what: String,
        /// Expected value.
        expected: String,
        /// Actual value.
        actual: String,
    },
    /// A proof of a witness that satisfies its constraints does not verify.
    #[error(
        "proof {number} made on {backend} does not verify: an error of the device, or parameters of another circuit"
    )]
    DoesNotVerify {
        /// Number of the proof in the batch.
        number: usize,
        /// Backend that made it.
        backend: proofwarp::BackendKind,
    },
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] proofwarp::Error),
}

impl Error {
    /// Converts `reason`, the system's error about the file at `path`.
    pub(crate) fn from_io(path: &Path, reason: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), reason: Arc::new(reason) }
    }

    /// Converts `reason`, an error of the engine about the parameters in the file at `path`.
    pub(crate) fn from_parameter_file(path: &Path, reason: proofwarp::Error) -> Self {
        let path = path.to_owned();
        match reason {
            proofwarp::Error::Invalid { what, expected, actual, .. } => {
                Self::Malformed { path, what, expected, actual }
            }
            reason => Self::Unusable { path, reason },
        }
    }

    /// Returns whether an argument was invalid, so that every backend would refuse it.
    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid { .. } | Self::Engine(proofwarp::Error::Invalid { .. }))
    }

    pub(crate) fn invalid(what: impl Into<String>, expected: impl ToString, actual: impl ToString) -> Self {
        Self::Invalid { what: what.into(), expected: expected.to_string(), actual: actual.to_string() }
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}

/// Returns an error unless `expected` and `actual` are equal. `what` names the number in the error.
pub(crate) fn check_equal(what: impl Into<String>, expected: usize, actual: usize) -> Result<(), Error> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(what, expected, actual)) }
}
