//! The one error type of the crate.

use std::any::Any;

use crate::backend::BackendKind;
use crate::waiting::text_of;

/// Result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, where, and what was expected instead.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is out of its range; nothing was changed.
    #[error("{place}: {what}: expected {expected}, got {actual}")]
    Invalid {
        /// The operation that checked it.
        place: &'static str,
        /// The argument.
        what: String,
        /// What it should have been.
        expected: String,
        /// What it was.
        actual: String,
    },
    /// The device, or the cap set by `PROOFWARP_MEMORY_LIMIT`, has too little memory left.
    #[error("{device}: out of device memory: {requested} bytes requested, {available} available")]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes asked for.
        requested: u64,
        /// Bytes that could have been had.
        available: u64,
    },
    /// The process was forked from one that had used the engine: it has none of its threads and devices ([`crate::process`]).
    #[error(
        "process {child} was forked after process {parent} had used proofwarp: it has no threads or devices of its own; \
         fork before the first use, or start a program anew"
    )]
    Forked {
        /// The process that used the engine first.
        parent: u32,
        /// This process.
        child: u32,
    },
    /// The caller's abort hook returned true; inputs are as they were.
    #[error("aborted by the caller's hook")]
    Aborted,
    /// A backend or device that cannot be used here.
    #[error("the {backend} backend is not available: {reason}")]
    Unavailable {
        /// Which backend.
        backend: BackendKind,
        /// Why.
        reason: String,
    },
    /// A module has no kernel of that name.
    #[error("{device}: {module} has no kernel {name}")]
    NoKernel {
        /// The device's name.
        device: String,
        /// The module.
        module: String,
        /// The kernel that was asked for.
        name: String,
    },
    /// A rank of a cluster failed; all of its ranks have this error.
    #[error("rank {rank} of the cluster: {reason}")]
    Rank {
        /// The first that failed.
        rank: usize,
        /// What it says.
        reason: String,
    },
    /// A call into the driver failed.
    #[error("{device}: {call} failed: {reason}")]
    Device {
        /// The device's name.
        device: String,
        /// The driver's call, or the kernel.
        call: String,
        /// What the driver says.
        reason: String,
    },
}

impl Error {
    /// An argument that is not what it should be.
    pub fn invalid(
        place: &'static str,
        what: impl Into<String>,
        expected: impl ToString,
        actual: impl ToString,
    ) -> Self {
        Self::Invalid { place, what: what.into(), expected: expected.to_string(), actual: actual.to_string() }
    }

    /// A kernel that its module does not have.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub(crate) fn no_kernel(device: &str, module: &str, name: &str) -> Self {
        let [device, module, name] = [device, module, name].map(str::to_owned);
        Self::NoKernel { device, module, name }
    }

    /// A failed call into a driver.
    pub fn device(device: impl Into<String>, call: impl Into<String>, reason: impl ToString) -> Self {
        Self::Device { device: device.into(), call: call.into(), reason: reason.to_string() }
    }

    /// A thread that worked for an operation panicked.
    pub(crate) fn panicked(operation: &str, panic: &(dyn Any + Send)) -> Self {
        Self::device("host", operation, format!("a worker thread panicked: {}", text_of(panic)))
    }

    /// A thread that worked for an operation ended without a result.
    pub(crate) fn lost(operation: &str) -> Self {
        Self::device("host", operation, "a worker thread ended without a result")
    }
}
