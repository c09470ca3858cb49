//! Reports of operations.

use std::fmt;
use std::time::Duration;

use crate::backend::{BackendKind, StreamStats};

/// Describes a finished operation: its device, its time and its transfers.
#[derive(Debug, Clone)]
pub struct Report {
    /// The operation, such as `msm bls12_381_g1`.
    pub operation: String,
    /// Number of elements that the operation worked on.
    pub elements: usize,
    /// The backend that gave the result.
    pub backend: BackendKind,
    /// The device's name.
    pub device: String,
    /// Wall time of the whole call.
    pub total: Duration,
    /// Times and sizes of transfers, and times of kernels. All are zero on the CPU. A time of zero means not measured.
    pub traffic: StreamStats,
    /// Reasons why backends that were tried before did not give the result. It is empty if the first one did.
    pub fallbacks: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, elements, backend, device, total, traffic, fallbacks } = self;
        write!(f, "{operation} of {elements} on {backend} ({device}): {total:.3?}")?;
        write_measured(f, "upload", traffic.upload, traffic.bytes_up)?;
        write_measured(f, "kernels", traffic.kernels, 0)?;
        write_measured(f, "download", traffic.download, traffic.bytes_down)?;
        write_measured(f, "compilation", traffic.compile, 0)?;
        fallbacks.iter().try_for_each(|reason| write!(f, "; fell back: {reason}"))
    }
}

/// Writes the time and the bytes of `part`, each of them only if it is not zero. A zero means not measured.
fn write_measured(f: &mut fmt::Formatter<'_>, part: &str, time: Duration, bytes: u64) -> fmt::Result {
    match (time.is_zero(), bytes) {
        (true, 0) => Ok(()),
        (false, 0) => write!(f, ", {part} {time:.3?}"),
        (true, _) => write!(f, ", {part} of {bytes} B"),
        (false, _) => write!(f, ", {part} {time:.3?} ({bytes} B)"),
    }
}
