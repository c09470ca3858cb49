//! What the parts of a multiplication take.

/// Costs by the model in ps, fitted to times on one H200; benches/notes has them (msm.md, sections 24 and 29;
/// streams.md, section 33).
pub(super) struct Costs {
    /// An XYZZ addition in the accumulation, and what each of a long row adds: the last of such rows end almost alone.
    pub xyzz: u64,
    pub tail: u64,
    /// Groups of the accumulation that a compute unit runs at once.
    groups: u64,
    /// A batched affine addition, and what a round of them takes however few they are.
    pub affine: u64,
    pub round: u64,
    /// How much less one takes of those that go to whoever is ready first.
    pub taken: u64,
    /// A row beside what is added in it: fitted, for what wider windows take more than all else explains.
    pub row: u64,
    /// The next bucket of a segment in the reduction, where work-items with a segment each fill the device; work-items that
    /// a compute unit runs at once then; what few take of that, in percent.
    step: u64,
    items: u64,
    few: u64,
    /// The next bucket of a segment where four work-items have it; segments of a compute unit then, before any takes much
    /// longer for it.
    chain: u64,
    quads: u64,
    /// A segment in one of the sums over segments.
    sum: u64,
    /// The host's part of a sum for each bit of the windows: a doubling, and what is added there.
    pub bit: u64,
}

/// Compute units of that H200.
pub(super) const UNITS: u64 = 132;
/// An entry sorted into its row, in ps.
pub(super) const ENTRY: u64 = 27;
/// What the first matrix takes however few its entries are, in ps: some twenty kernels that fill the device unevenly, and the way to
/// the first of them.
pub(super) const FIRST_MATRIX: u64 = 120_000_000;
/// The same of a further one, of another band or chunk, whose kernels are queued behind those of the one before; and what it takes
/// more where scalars are halved.
pub(super) const MATRIX: u64 = 40_000_000;
pub(super) const HALVED_MATRIX: u64 = 20_000_000;
/// A scalar of which digits are made again, for the next band.
pub(super) const DIGITS: u64 = 58;
/// What an entry of a half takes more where a bin has as many rows as can be: each bin's entries are in few runs then.
pub(super) const SCATTERED: u64 = 8;
/// What is left of rows after the rounds is multiplied by λ where one of 32 neighbours has to be: one part in so many of an XYZZ
/// addition.
pub(super) const TIMES_LAMBDA: u64 = 10;
/// A byte on its way from the host's memory, at 45 GB/s.
pub(super) const UPLOAD: u64 = 22;
/// A digit of a window that another device does, made to get at the ones above; counted, not fitted: a dozen
/// instructions of 14 T/s, and its part of the scalar's way from memory.
pub(super) const OTHER_DIGIT: u64 = 2;
/// What the sums over segments wait for, in buckets of a segment of four work-items.
const SUMS: u64 = 8;

/// Rows of a group of the accumulation, where none is longer than a piece.
const ACCUMULATE_GROUP: u64 = 128;

/// What a step takes at least, in percent of the same on a full device.
const ALONE: u64 = 45;

impl Costs {
    /// Of a curve with coordinates of 8 limbs, 12, twice 8 or twice 12.
    pub fn of(affine_bytes: u64) -> Self {
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

    /// By what part the accumulation of so many rows by so many units takes longer, in percent, where all its groups run at once but
    /// some units have one more than others.
    pub fn uneven(&self, rows: u64, units: u64) -> u64 {
        let filled = 100 * rows.div_ceil(ACCUMULATE_GROUP) / units.max(1);
        if filled <= 100 || filled > 100 * self.groups { 0 } else { 100 * filled.next_multiple_of(100) / filled - 100 }
    }

    /// Segments that so many units reduce at once, with a work-item each.
    pub fn items(&self, units: u64) -> u64 {
        self.items * units
    }

    /// The same with four work-items each, before any takes longer for it.
    pub fn quads(&self, units: u64) -> u64 {
        self.quads * units
    }

    /// A row and its bucket, where work-items with a segment each fill the device.
    pub fn bucket(&self) -> u64 {
        self.row + self.step / self.items(UNITS)
    }

    /// The running sums of so many segments, the longest of which is so long, with so many buckets in all, with a work-item
    /// each.
    pub fn by_items(&self, count: u64, longest: u64, buckets: u64, units: u64) -> u64 {
        let all = buckets * self.waves(100 * count / self.items(units)) / count.max(1);
        self.step * all.max(longest * ALONE) / 100
    }

    /// The same of segments of such a length, with four work-items each.
    pub fn by_quads(&self, count: u64, length: u64, units: u64) -> u64 {
        let filled = 100 * count / self.quads(units);
        self.chain * length * if filled <= 100 { 85 + filled * 15 / 100 } else { filled.max(160) } / 100
    }

    /// The sums over all of so many segments and, for each bit of their numbers, over half of them.
    pub fn sums(&self, count: u64, bits: u64) -> u64 {
        SUMS * self.chain + self.sum * count * (bits + 2) / 2
    }

    /// What work-items that fill a device so many times take by what they take filling it once, both in percent. Few run
    /// faster than many; the last ones, started when the first of those before them end, run almost by themselves.
    fn waves(&self, filled: u64) -> u64 {
        match filled {
            0..=100 => ALONE.max(self.few + filled * (100 - self.few) / 100),
            _ => (filled + 14).max(filled / 100 * 70 + 63),
        }
    }
}
