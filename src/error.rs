//! Defines the one error type of the crate.

use std::any::Any;

use crate::backend::BackendKind;
use crate::panic_message::panic_message;

/// Result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Tells the failure, its place, and the expected value.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is out of its range; nothing was changed.
    #[error("{place}: {what}: expected {expected}, got {actual}")]
    Invalid {
        /// The operation that checked the argument.
        place: &'static str,
        /// The argument.
        what: String,
        /// The expected value.
        expected: String,
        /// The actual value.
        actual: String,
    },
    /// The device, or the cap set by `PROOFWARP_MEMORY_LIMIT`, has too little memory left.
    #[error("{device}: out of device memory: {requested} bytes requested, {available} available")]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes asked for.
        requested: u64,
        /// Bytes that were available.
        available: u64,
    },
    /// The process was forked from one that had used the engine: it lacks the engine's threads and devices
    /// ([`crate::fork_check`]).
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
    /// A backend or device cannot be used here.
    #[error("the {backend} backend is not available: {reason}")]
    Unavailable {
        /// The backend.
        backend: BackendKind,
        /// The reason.
        reason: String,
    },
    /// A module has no kernel of that name.
    #[error("{device}: {module} has no kernel {name}")]
    NoKernel {
        /// The device's name.
        device: String,
        /// The module.
        module: String,
        /// The requested kernel.
        name: String,
    },
    /// A rank of a cluster failed; all of its ranks have this error.
    #[error("rank {rank} of the cluster: {reason}")]
    Rank {
        /// The first rank that failed.
        rank: usize,
        /// The reason that it gives.
        reason: String,
    },
    /// A call into the driver failed.
    #[error("{device}: {call} failed: {reason}")]
    Device {
        /// The device's name.
        device: String,
        /// The driver's call, or the kernel.
        call: String,
        /// The reason that the driver gives.
        reason: String,
    },
}

impl Error {
    /// Returns the error for an argument that is out of its range.
    pub fn invalid(
        place: &'static str,
        what: impl Into<String>,
        expected: impl ToString,
        actual: impl ToString,
    ) -> Self {
        Self::Invalid { place, what: what.into(), expected: expected.to_string(), actual: actual.to_string() }
    }

    /// Returns the error for a kernel that its module lacks.
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    pub(crate) fn kernel_not_found(device: &str, module: &str, name: &str) -> Self {
        let [device, module, name] = [device, module, name].map(str::to_owned);
        Self::NoKernel { device, module, name }
    }

    /// Returns the error for a failed call into a driver.
    pub fn device(device: impl Into<String>, call: impl Into<String>, reason: impl ToString) -> Self {
        Self::Device { device: device.into(), call: call.into(), reason: reason.to_string() }
    }

    /// Returns the error for a worker thread that panicked.
    pub(crate) fn panicked(operation: &str, panic: &(dyn Any + Send)) -> Self {
        Self::device("host", operation, format!("a worker thread panicked: {}", panic_message(panic)))
    }

    /// Returns the error for a worker thread that ended without a result.
    pub(crate) fn internal(operation: &str) -> Self {
        Self::device("host", operation, "a worker thread ended without a result")
    }
}
