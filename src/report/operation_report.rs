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
    /// Times and sizes of transfers, and times of kernels. All are zero on the CPU.
    pub traffic: StreamStats,
    /// Reasons why backends that were tried before did not give the result. It is empty if the first one did.
    pub fallbacks: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = &self.traffic;
        write!(
            f,
            "{} of {} on {} ({}): {:.3?}, upload {:.3?} ({} B), kernels {:.3?}, download {:.3?} ({} B)",
            self.operation,
            self.elements,
            self.backend,
            self.device,
            self.total,
            t.upload,
            t.bytes_up,
            t.kernels,
            t.download,
            t.bytes_down
        )?;
        if !t.compile.is_zero() {
            write!(f, ", compilation {:.3?}", t.compile)?;
        }
        self.fallbacks.iter().try_for_each(|reason| write!(f, "; fell back: {reason}"))
    }
}
