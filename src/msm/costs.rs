//! What the parts of a multiplication take.

/// Costs by the model in ps, fitted to times on one H200; benches/NOTES.md has them.
pub(super) struct Costs {
    /// An XYZZ addition in the accumulation, and its latency where a work-item does one after the other.
    pub xyzz: u64,
    pub latency: u64,
    /// A batched affine addition, and what a round of them takes however few they are.
    pub affine: u64,
    pub round: u64,
    /// A bucket in the reduction where a work-item has a segment.
    pub bucket: u64,
    /// The next bucket of a segment where four work-items have it.
    pub chain: u64,
}

/// An entry sorted into its row, in ps.
pub(super) const ENTRY: u64 = 27;
/// What a band of a chunk takes however few its entries are, in ps: some twenty kernels that fill the device unevenly.
pub(super) const BAND: u64 = 120_000_000;
/// A digit of a window that another device does, made to get at the ones above; counted, not fitted: a dozen
/// instructions of 14 T/s, and its part of the scalar's way from memory.
pub(super) const OTHER_DIGIT: u64 = 2;

impl Costs {
    /// Of a curve with coordinates of 8 limbs, 12, twice 8 or twice 12.
    pub fn of(affine_bytes: u64) -> Self {
        let [xyzz, latency, affine, round, bucket, chain] = match affine_bytes {
            0..=64 => [168, 7_000_000, 140, 80_000_000, 1177, 5_800_000],
            65..=96 => [365, 14_000_000, 265, 65_000_000, 2385, 11_800_000],
            97..=128 => [620, 20_000_000, 410, 110_000_000, 3300, 16_000_000],
            _ => [1430, 60_000_000, 860, 240_000_000, 6300, 31_000_000],
        };
        Self { xyzz, latency, affine, round, bucket, chain }
    }

    /// The reduction of so many buckets. While there are few, all segments are under way at once: their length counts,
    /// and what is summed over them.
    pub fn reduction(&self, rows: u64, segment: u64, many_segments: bool) -> u64 {
        if many_segments { self.bucket * rows } else { self.chain * segment + self.bucket / 6 * rows }
    }
}
