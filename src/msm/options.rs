//! Options that a caller may set for a multiplication.

use crate::{Error, Result};

/// Maximum bits of a window, 20. Its 2^19 buckets are sorted as 2^8 bins of 2^11 buckets each.
pub(super) const MAX_WINDOW: u32 = 20;

/// Configures multi-scalar multiplications. Zero or `None` leaves a choice to the cost model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MsmOptions {
    /// Bits of the widest windows, 4 to 20. Other windows may have one bit less.
    pub window: u32,
    /// Copies of each base P that the device holds: the multiples 2^(k·b)·P for k = 0, 1 …, b bits apart. With copies,
    /// windows share buckets: fewer buckets are reduced and wider windows pay off. 0 and 1 mean the base alone.
    pub precompute: u32,
    /// Rounds of batched affine additions before buckets are summed in XYZZ coordinates, at most 8. `Some(0)` means
    /// none.
    pub affine_rounds: Option<u32>,
    /// Whether scalars are split by GLV decomposition (Gallant, Lambert, Vanstone 2001), s = k₀ + λ·k₁. It halves the
    /// number of windows and gives each bucket two rows of the sparse matrix. It applies only to full-length scalars,
    /// in windows of at most 19 bits, over bases without copies (`precompute`) that are on one device each.
    pub halved: Option<bool>,
    /// Maximum number of devices to use; 0 means all.
    pub devices: usize,
    /// Number of devices that hold the same part of the bases; each of them computes a part of the windows. With 1,
    /// every device has its own part of the bases and computes all windows. Bases with copies (`precompute`), and bases
    /// streamed from the host, always have 1.
    pub window_groups: usize,
    /// Maximum scalar vectors of a batch that are multiplied as one sparse matrix, which has the buckets of all of
    /// them. With 1 each vector is a matrix of its own, as it always is if bases are streamed from the host.
    pub joined: usize,
    /// Maximum bytes of a device's memory for one multiplication, without the bases that stay there; 0 means no
    /// limit. A value below the free memory makes chunks of points smaller.
    pub memory: u64,
}

impl MsmOptions {
    pub(super) fn check(&self) -> Result<()> {
        let range = |what, value: u32, range: std::ops::RangeInclusive<u32>| {
            let expected = format!("0, or {} to {}", range.start(), range.end());
            let fine = value == 0 || range.contains(&value);
            if fine { Ok(()) } else { Err(Error::invalid("msm", what, expected, value)) }
        };
        range("window", self.window, 4..=MAX_WINDOW)?;
        range("precompute", self.precompute, 1..=64)?;
        if self.precompute > 1 && self.window_groups > 1 {
            return Err(Error::invalid("msm", "window_groups with copies of the bases", "0 or 1", self.window_groups));
        }
        range("affine_rounds", self.affine_rounds.unwrap_or(0), 1..=8)
    }

    /// Returns the maximum number of devices to use: `usize::MAX` if the option is 0.
    pub(super) fn max_devices(&self) -> usize {
        if self.devices == 0 { usize::MAX } else { self.devices }
    }
}
