//! What a caller may settle about a multiplication.

use crate::{Error, Result};

/// Widest window: 2^8 bins of 2^11 rows each.
pub(super) const MAX_WINDOW: u32 = 20;

/// How multiplications over some bases are done. Zero, or `None`, leaves it to the cost model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Bits of the widest windows, 4 to 20; others may have one less.
    pub window: u32,
    /// Copies held of each base, 2^(k·b)·P for k = 0, 1 … and some b: windows share buckets, so that fewer are
    /// reduced and wider windows pay. 1 is the base alone, which is what zero means.
    pub precompute: u32,
    /// Rounds of batched affine additions before rows are summed in XYZZ coordinates, at most 8.
    pub affine_rounds: Option<u32>,
    /// Whether scalars s are halved by the curve's endomorphism, s = k₀ + λ·k₁: half as many windows, with two rows for each
    /// bucket. Only those of full length, in windows of at most 19 bits, over bases without copies (`precompute`) of which each
    /// is on one device; others never are.
    pub halved: Option<bool>,
    /// Most devices to use.
    pub devices: usize,
    /// Groups of windows that bases on several devices are held for: so many devices hold the same piece of the bases and
    /// do a part of the windows each. 1 is a piece of its own for every device, as it is wherever there are copies of
    /// the bases (`precompute`) or they are streamed from the host.
    pub window_groups: usize,
    /// Most vectors of a batch that are multiplied as one matrix, which has the buckets of all of them; 1 is each for
    /// itself, as it is wherever bases are streamed from the host.
    pub joined: usize,
    /// Most bytes of a device's memory for one multiplication, beside the bases that stay there; less than it has
    /// free makes chunks smaller.
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
