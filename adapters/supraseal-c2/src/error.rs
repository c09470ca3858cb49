//! The one error type of the crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why there are no parameters or no proofs.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The parameter file cannot be read.
    #[error("{}: {reason}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        reason: Arc<std::io::Error>,
    },
    /// The parameter file is not one.
    #[error("{}: {what}: expected {expected}, got {actual}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Which part of it.
        what: String,
        /// What it should have been.
        expected: String,
        /// What it was.
        actual: String,
    },
    /// The file's parameters cannot be used.
    #[error("{}: {reason}", .path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the engine says.
        #[source]
        reason: proofwarp::Error,
    },
    /// An argument is not what it should be.
    #[error("{what}: expected {expected}, got {actual}")]
    Invalid {
        /// The argument.
        what: String,
        /// What it should have been.
        expected: String,
        /// What it was.
        actual: String,
    },
    /// A proof of a witness that satisfies its constraints does not verify.
    #[error(
        "proof {number} made on {backend} does not verify: an error of the device, or parameters of another circuit"
    )]
    DoesNotVerify {
        /// Which proof of the batch.
        number: usize,
        /// What made it.
        backend: proofwarp::BackendKind,
    },
    /// The engine's.
    #[error(transparent)]
    Engine(#[from] proofwarp::Error),
}

impl Error {
    /// What the engine says of a file's parameters.
    pub(crate) fn of_file(path: &Path, reason: proofwarp::Error) -> Self {
        let path = path.to_owned();
        match reason {
            proofwarp::Error::Invalid { what, expected, actual, .. } => {
                Self::Malformed { path, what, expected, actual }
            }
            reason => Self::Unusable { path, reason },
        }
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

/// An error unless two numbers are the same.
pub fn equal(what: impl Into<String>, expected: usize, actual: usize) -> Result<(), Error> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(what, expected, actual)) }
}
