//! Defines the one error type of the crate, and reads the message of a panic.

use std::any::Any;

use crate::backend::BackendKind;

/// Result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Describes the failure of a call: the operation or device, and the reason.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is out of its range. Nothing was changed.
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
        /// Number of bytes requested.
        requested: u64,
        /// Number of bytes that were available.
        available: u64,
    },
    /// The work does not fit into the device's memory, even if its steps are split as far as possible. Nothing was
    /// started.
    #[error(
        "{device}: {what}: at least {requested} bytes of device memory expected, got {available}, {} too few: {remedy}",
        .requested.saturating_sub(*.available)
    )]
    TooLarge {
        /// The device's name.
        device: String,
        /// The work.
        what: String,
        /// Minimum bytes that the work takes.
        requested: u64,
        /// Number of bytes that were available.
        available: u64,
        /// The setting or the device with which the work fits.
        remedy: String,
    },
    /// The process was forked from one that had used the engine: it lacks the engine's threads and devices
    /// ([`crate::fork_check`]).
    #[error(
        "process {child} was forked after process {parent} had used proofwarp: it has no threads or devices of its own; \
         fork before the first use, or start a program anew"
    )]
    Forked {
        /// Id of the process that used the engine first.
        parent: u32,
        /// Id of this process.
        child: u32,
    },
    /// The caller's abort hook returned true. Inputs are unchanged.
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
    /// A device lacks a feature that the call requested. Work without that feature runs on it.
    #[error("{device} does not support {feature}: {reason}")]
    Unsupported {
        /// The device's name.
        device: String,
        /// The feature.
        feature: &'static str,
        /// The reason, with the devices or the build that support the feature.
        reason: String,
    },
    /// A module has no kernel of that name.
    #[error("{device}: {module} has no kernel {name}")]
    NoKernel {
        /// The device's name.
        device: String,
        /// The kernel module's name.
        module: String,
        /// The requested kernel's name.
        name: String,
    },
    /// A rank (process) of a cluster failed. All ranks of the cluster return this error.
    #[error("rank {rank} of the cluster: {reason}")]
    Rank {
        /// Number of the first rank that failed.
        rank: usize,
        /// The reason that the rank gives.
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
    /// Returns [`Error::Invalid`] for the argument `what` of the operation `place`, which is `actual` instead of
    /// `expected`.
    pub fn invalid(
        place: &'static str,
        what: impl Into<String>,
        expected: impl ToString,
        actual: impl ToString,
    ) -> Self {
        Self::Invalid { place, what: what.into(), expected: expected.to_string(), actual: actual.to_string() }
    }

    /// Checks that the argument `what` of the operation `place` is `expected`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `actual` differs from `expected`.
    pub fn check_eq(place: &'static str, what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
        if expected == actual { Ok(()) } else { Err(Self::invalid(place, what, expected, actual)) }
    }

    /// Checks that the range of the operation `place`, `bytes` bytes from byte `offset` on, is within memory of `size` bytes.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: it is not.
    pub(crate) fn check_byte_range(place: &'static str, offset: usize, bytes: usize, size: usize) -> Result<()> {
        match offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(()),
            _ => Err(Self::invalid(place, "range", format!("within {size} bytes"), format!("{offset} + {bytes}"))),
        }
    }

    /// Returns [`Error::Device`] for a `call` into the driver of `device` that failed because of `reason`.
    pub fn device(device: impl Into<String>, call: impl Into<String>, reason: impl ToString) -> Self {
        Self::Device { device: device.into(), call: call.into(), reason: reason.to_string() }
    }

    /// Returns [`Error::Unsupported`] for `feature`, which `device` lacks because of `reason`.
    pub(crate) fn unsupported(device: impl Into<String>, feature: &'static str, reason: impl Into<String>) -> Self {
        Self::Unsupported { device: device.into(), feature, reason: reason.into() }
    }

    /// Returns [`Error::Device`] of the host for a worker thread of `operation` that panicked with `panic`.
    pub(crate) fn worker_panicked(operation: &str, panic: &(dyn Any + Send)) -> Self {
        Self::device("host", operation, format!("a worker thread panicked: {}", panic_message(panic)))
    }

    /// Returns [`Error::Device`] of the host for a worker thread of `operation` that ended without a result.
    pub(crate) fn internal(operation: &str) -> Self {
        Self::device("host", operation, "a worker thread ended without a result")
    }
}

/// Returns the message of a caught `panic`, or a fixed text if it has none.
#[cfg_attr(not(feature = "unstable-device-api"), allow(unreachable_pub, reason = "adapters use it through `blocking`"))]
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it said nothing")
}
