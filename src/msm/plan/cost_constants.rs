//! Costs of the parts of a multiplication.

use crate::kernels::msm::ACCUMULATE_GROUP;

/// Holds the cost model's constants for a curve, in ps unless stated. They are fitted to times on one H200, which
/// benches/notes lists (msm.md, sections 24 and 29; streams.md, section 33).
pub(super) struct CostConstants {
    /// Cost of an XYZZ addition in the accumulation of buckets.
    pub xyzz: u64,
    /// Surcharge of a matrix for each addition of its longest row, since the last of such rows end almost alone.
    pub tail: u64,
    /// Workgroups of the accumulation that a compute unit runs at once.
    groups: u64,
    /// Cost of a batched affine addition.
    pub affine: u64,
    /// Fixed cost of a round of batched affine additions.
    pub round: u64,
    /// Saving of each affine addition that goes to whichever workgroup is ready first.
    pub taken: u64,
    /// Cost of a row beside its additions: fitted to the extra time of wider windows that nothing else explains.
    pub row: u64,
    /// Reduction with one work-item per segment of buckets: cost of each segment's next bucket if the work-items fill
    /// the device.
    step: u64,
    /// Reduction with one work-item per segment of buckets: work-items that a compute unit runs at once.
    items: u64,
    /// Reduction with one work-item per segment of buckets: cost of a step with few work-items, in percent of `step`.
    few: u64,
    /// Reduction with four work-items per segment of buckets: cost of each segment's next bucket.
    chain: u64,
    /// Reduction with four work-items per segment of buckets: segments that a compute unit reduces at once before any
    /// takes much longer.
    quads: u64,
    /// Cost of a segment of buckets in one of the sums over segments.
    sum: u64,
    /// Cost on the host for each scalar bit that windows cover: a doubling, and the additions there.
    pub bit: u64,
}

/// Compute units of the H200 that the costs were fitted on.
pub(super) const UNITS: u64 = 132;
/// Cost of sorting a matrix entry into its row, in ps.
pub(super) const ENTRY: u64 = 27;
/// Fixed cost of the first matrix, in ps: about twenty kernels that fill the device unevenly, plus launch latency.
pub(super) const FIRST_MATRIX: u64 = 120_000_000;
/// Fixed cost of each further matrix (another band or chunk), in ps: its kernels are queued behind those of the
/// previous one.
pub(super) const MATRIX: u64 = 40_000_000;
/// Surcharge on the fixed cost of a matrix if GLV is used, in ps.
pub(super) const GLV_MATRIX: u64 = 20_000_000;
/// Cost of computing a scalar's digits again, for a further band of windows, in ps.
pub(super) const DIGITS: u64 = 58;
/// Surcharge of an entry in ps if GLV is used and bins have the maximum number of rows. Each bin's entries are then in
/// few runs.
pub(super) const GLV_SCATTER: u64 = 8;
/// Multiplying an entry that remains after the affine rounds by the GLV eigenvalue λ costs `1/ENDO_COST_DIV` of an XYZZ
/// addition. A warp pays if any of its 32 lanes needs it.
pub(super) const ENDO_COST_DIV: u64 = 10;
/// Cost of uploading a byte from the host's memory, in ps: 45 GB/s.
pub(super) const UPLOAD: u64 = 22;
/// Cost in ps of a digit of a window that another device computes; its carry goes to the windows above. The value is
/// counted, not fitted: a dozen instructions at 14 T/s, and its share of loading the scalar.
pub(super) const SKIPPED_DIGIT: u64 = 2;
/// Latency of the sums over segments of buckets, in steps of a reduction with four work-items per segment.
const SUMS: u64 = 8;

/// Minimum cost of a step (the next bucket of each segment), in percent of its cost on a full device.
const MIN_STEP_PERCENT: u64 = 45;

impl CostConstants {
    /// Returns the costs of a curve with `affine_bytes` bytes per affine point: coordinates of 8, 12, 2 · 8 or 2 · 12
    /// limbs.
    pub(super) fn for_affine_bytes(affine_bytes: u64) -> Self {
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

    /// Returns the tail effect of accumulating `rows` matrix rows on `units` compute units, in percent. This is the
    /// slowdown if all workgroups run at once, but some units have one more than others.
    pub(super) fn tail_effect_percent(&self, rows: u64, units: u64) -> u64 {
        let filled = 100 * rows.div_ceil(ACCUMULATE_GROUP.into()) / units.max(1);
        if filled <= 100 || filled > 100 * self.groups { 0 } else { 100 * filled.next_multiple_of(100) / filled - 100 }
    }

    /// Returns the number of segments of buckets that `units` compute units reduce at once with one work-item each.
    pub(super) fn scalar_segment_capacity(&self, units: u64) -> u64 {
        self.items * units
    }

    /// Returns the number of segments of buckets that `units` compute units reduce at once with four work-items each,
    /// before any takes longer.
    pub(super) fn quad_segment_capacity(&self, units: u64) -> u64 {
        self.quads * units
    }

    /// Returns the cost of a bucket in ps: its row, and its step in the reduction. The step assumes that work-items
    /// with one segment each fill the device.
    pub(super) fn bucket_cost(&self) -> u64 {
        self.row + self.step / self.scalar_segment_capacity(UNITS)
    }

    /// Returns the cost in ps of reducing segments of buckets by running sums, with one work-item per segment, on
    /// `units` compute units. There are `count` segments of up to `longest` buckets, with `buckets` buckets in total.
    pub(super) fn scalar_segments_cost(&self, count: u64, longest: u64, buckets: u64, units: u64) -> u64 {
        let all = buckets * self.wave_time_percent(100 * count / self.scalar_segment_capacity(units)) / count.max(1);
        self.step * all.max(longest * MIN_STEP_PERCENT) / 100
    }

    /// Returns the cost in ps of reducing `count` segments of `length` buckets by running sums, with four work-items
    /// per segment, on `units` compute units.
    pub(super) fn quad_segments_cost(&self, count: u64, length: u64, units: u64) -> u64 {
        let filled = 100 * count / self.quad_segment_capacity(units);
        self.chain * length * if filled <= 100 { 85 + filled * 15 / 100 } else { filled.max(160) } / 100
    }

    /// Returns the cost in ps of the sums over segments of buckets. There is one over all `count` segments, and one
    /// over half of them for each of the `bits` bits of a segment's index.
    pub(super) fn segment_sums_cost(&self, count: u64, bits: u64) -> u64 {
        SUMS * self.chain + self.sum * count * (bits + 2) / 2
    }

    /// Returns the time of work-items that fill `filled` percent of a device, in percent of the time to fill it once.
    /// Few work-items run faster than many. The last ones start when the first of the previous ones end, and run almost
    /// alone.
    fn wave_time_percent(&self, filled: u64) -> u64 {
        match filled {
            0..=100 => MIN_STEP_PERCENT.max(self.few + filled * (100 - self.few) / 100),
            _ => (filled + 14).max(filled / 100 * 70 + 63),
        }
    }
}
