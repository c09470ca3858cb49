//! Costs of the parts of a multiplication.

/// Holds the model's costs in ps, fitted to times on one H200; benches/notes has them (msm.md, sections 24 and 29;
/// streams.md, section 33).
pub(super) struct CostConstants {
    /// An XYZZ addition in the accumulation; and the surcharge for each addition of a long row, since the last of such
    /// rows end almost alone.
    pub xyzz: u64,
    pub tail: u64,
    /// Groups of the accumulation that a compute unit runs at once.
    groups: u64,
    /// A batched affine addition; and the fixed cost of a round of them.
    pub affine: u64,
    pub round: u64,
    /// Saving of each affine addition that goes to whichever group is ready first.
    pub taken: u64,
    /// A row beside its additions: fitted to the extra time of wider windows that nothing else explains.
    pub row: u64,
    /// Reduction with one work-item per segment: the next bucket of a segment if the work-items fill the device;
    /// work-items that a compute unit then runs at once; and the cost with few work-items, in percent of that.
    step: u64,
    items: u64,
    few: u64,
    /// Reduction with four work-items per segment: the next bucket of a segment; and the segments of a compute unit
    /// before any takes much longer.
    chain: u64,
    quads: u64,
    /// A segment in one of the sums over segments.
    sum: u64,
    /// The host's part of a sum for each bit of the windows: a doubling, and the additions there.
    pub bit: u64,
}

/// Compute units of that H200.
pub(super) const UNITS: u64 = 132;
/// Cost of sorting an entry into its row, in ps.
pub(super) const ENTRY: u64 = 27;
/// Fixed cost of the first matrix, in ps: about twenty kernels that fill the device unevenly, plus launch latency.
pub(super) const FIRST_MATRIX: u64 = 120_000_000;
/// Fixed cost of each further matrix (another band or chunk), in ps: its kernels are queued behind those of the
/// previous one. And the surcharge if GLV is used.
pub(super) const MATRIX: u64 = 40_000_000;
pub(super) const GLV_MATRIX: u64 = 20_000_000;
/// Cost of making a scalar's digits again, for the next band, in ps.
pub(super) const DIGITS: u64 = 58;
/// Surcharge of an entry of a half (GLV), in ps, if bins have the maximum number of rows: each bin's entries are then
/// in few runs.
pub(super) const GLV_SCATTER: u64 = 8;
/// Multiplying a remaining entry by λ after the rounds costs `1/ENDO_COST_DIV` of an XYZZ addition: a warp pays if any
/// of its 32 lanes needs it.
pub(super) const ENDO_COST_DIV: u64 = 10;
/// Cost of uploading a byte from the host's memory, in ps: 45 GB/s.
pub(super) const UPLOAD: u64 = 22;
/// Cost of a digit of a window that another device computes, in ps, made to reach the windows above. It is counted, not
/// fitted: a dozen instructions at 14 T/s, and its share of loading the scalar.
pub(super) const SKIPPED_DIGIT: u64 = 2;
/// Latency of the sums over segments, in buckets of a segment of four work-items.
const SUMS: u64 = 8;

/// Rows of a group of the accumulation, if none is longer than a piece.
const ACCUMULATE_GROUP: u64 = 128;

/// Minimum cost of a step, in percent of its cost on a full device.
const MIN_STEP_PERCENT: u64 = 45;

impl CostConstants {
    /// Returns the costs of a curve by its `affine_bytes`: coordinates of 8 limbs, 12, twice 8 or twice 12.
    pub fn for_affine_bytes(affine_bytes: u64) -> Self {
        let [xyzz, tail, groups, affine, round, taken, row] = match affine_bytes {
            0..=64 => [168, 2_800_000, 4, 130, 75_000_000, 7, 500],
            65..=96 => [328, 3_500_000, 3, 260, 75_000_000, 15, 100],
            97..=128 => [527, 5_000_000, 2, 410, 110_000_000, 0, 200],
            _ => [1144, 12_000_000, 2, 770, 240_000_000, 0, 1000],
        };
        let [step, items, few, chain, quads, sum, bit] = match affine_bytes {
            0..=64 => [32_000_000, 512, 15, 6_900_000, 70, 620, 600_000],
            65..=96 => [63_800_000, 384, 15, 13_000_000, 64, 1600, 670_000],
            97..=128 => [61_000_000, 256, 45, 14_900_000, 64, 2000, 1_100_000],
            _ => [140_000_000, 256, 45, 27_000_000, 64, 4000, 1_600_000],
        };
        Self { xyzz, tail, groups, affine, round, taken, row, step, items, few, chain, quads, sum, bit }
    }

    /// Returns the tail effect in percent: the slowdown of accumulating `rows` rows on `units` compute units if all
    /// groups run at once, but some units have one more than others.
    pub fn tail_effect_percent(&self, rows: u64, units: u64) -> u64 {
        let filled = 100 * rows.div_ceil(ACCUMULATE_GROUP) / units.max(1);
        if filled <= 100 || filled > 100 * self.groups { 0 } else { 100 * filled.next_multiple_of(100) / filled - 100 }
    }

    /// Returns the number of segments that `units` compute units reduce at once with one work-item each.
    pub fn items(&self, units: u64) -> u64 {
        self.items * units
    }

    /// Returns the number of segments that `units` compute units reduce at once with four work-items each, before any
    /// takes longer.
    pub fn quads(&self, units: u64) -> u64 {
        self.quads * units
    }

    /// Returns the cost of a row and its bucket in ps. The bucket's cost assumes that work-items with one segment each
    /// fill the device.
    pub fn bucket(&self) -> u64 {
        self.row + self.step / self.items(UNITS)
    }

    /// Returns the cost of the running sums with one work-item per segment, on `units` compute units: `count` segments
    /// of up to `longest` buckets, `buckets` in total.
    pub fn scalar_segments_cost(&self, count: u64, longest: u64, buckets: u64, units: u64) -> u64 {
        let all = buckets * self.waves(100 * count / self.items(units)) / count.max(1);
        self.step * all.max(longest * MIN_STEP_PERCENT) / 100
    }

    /// Returns the cost of the running sums with four work-items per segment, for `count` segments of `length` buckets
    /// on `units` compute units.
    pub fn quad_segments_cost(&self, count: u64, length: u64, units: u64) -> u64 {
        let filled = 100 * count / self.quads(units);
        self.chain * length * if filled <= 100 { 85 + filled * 15 / 100 } else { filled.max(160) } / 100
    }

    /// Returns the cost of the sums over all of `count` segments and, for each of the `bits` of their numbers, over
    /// half of them.
    pub fn sums(&self, count: u64, bits: u64) -> u64 {
        SUMS * self.chain + self.sum * count * (bits + 2) / 2
    }

    /// Returns the time of work-items that fill `filled` percent of a device, in percent of the time to fill it once.
    /// Few run faster than many. The last ones start when the first of the previous ones end, and run almost alone.
    fn waves(&self, filled: u64) -> u64 {
        match filled {
            0..=100 => MIN_STEP_PERCENT.max(self.few + filled * (100 - self.few) / 100),
            _ => (filled + 14).max(filled / 100 * 70 + 63),
        }
    }
}
