//! What a caller may settle about a multiplication.

use crate::{Error, Result};

/// Widest window: 2^8 bins of 2^11 rows each.
pub(super) const MAX_WINDOW: u32 = 20;

/// How multiplications over some bases are done. Zero, or `None`, leaves it to the cost model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Bits of the widest windows, 4 to 20; others may have one less.
    pub window: u32,
    /// Copies of each base that the device holds: 2^(k·b)·P for k = 0, 1 … and some b. With copies, windows share buckets, so
    /// that fewer buckets are reduced and wider windows pay. 1, which zero means too, is the base alone.
    pub precompute: u32,
    /// Rounds of batched affine additions before rows are summed in XYZZ coordinates, at most 8.
    pub affine_rounds: Option<u32>,
    /// Whether the curve's endomorphism halves scalars, s = k₀ + λ·k₁. There are half as many windows then, and two rows for
    /// each bucket. Only scalars of full length are halved, in windows of at most 19 bits, over bases that have no copies
    /// (`precompute`) and of which each is on one device.
    pub halved: Option<bool>,
    /// Most devices to use.
    pub devices: usize,
    /// Groups of windows, for bases on several devices: so many devices hold the same piece of the bases, and each does a part
    /// of the windows. With 1 every device has a piece of its own. Bases with copies (`precompute`), and those that are
    /// streamed from the host, always have 1.
    pub window_groups: usize,
    /// Most vectors of a batch that are multiplied as one matrix, which has the buckets of all of them. With 1 each vector is a
    /// matrix of its own, as it always is where bases are streamed from the host.
    pub joined: usize,
    /// Most bytes of a device's memory for one multiplication, beside the bases that stay there. Less than the device has free
    /// makes chunks smaller.
    pub memory: u64,
}

impl Options {
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

    /// Most devices among an accelerator's that are used.
    pub(super) fn most_devices(&self) -> usize {
        if self.devices == 0 { usize::MAX } else { self.devices }
    }
}
