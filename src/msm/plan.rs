//! Windows, chunks, bands, pieces and memory of a multi-scalar multiplication: sizes only, no device.

use std::ops::Range;
use std::time::Duration;

use super::costs::{Costs, ENTRY};

/// Longest piece that kernels can order by length: `BINS` of `cl/msm_rows.cl`.
const MAX_PIECE: u32 = 512;
/// Segments wanted in the bucket reduction, each the work of four work-items.
const SEGMENTS: u64 = 1 << 13;
/// Buckets from which there are segments enough for one work-item each, and how many are wanted then.
const MANY_BUCKETS: u64 = 1 << 20;
const MANY_SEGMENTS: u64 = 1 << 15;
/// Shortest segment: what follows it costs as much as a segment of this length.
const MIN_SEGMENT: u64 = 4;
/// Totals that one group of `msm_sum_bits` sums.
const PART: u32 = 64;
/// Binary logarithms of the bins of a window at most, and of the rows of a bin at least (`cl/msm_digits.cl`).
const MAX_BIN_BITS: u32 = 8;
const MIN_LOW_BITS: u32 = 7;
/// Pieces merged by one group, `MERGE` of `cl/msm_rows.cl`.
const MERGE: u64 = 64;
/// Most points of a chunk of bases that come from the host: bounds the wait after an abort.
const MAX_STREAMED: usize = 1 << 21;
/// Most points of a chunk where nothing is uploaded: some 90 ms of BLS12-381 G1.
const MAX_RESIDENT: usize = 1 << 24;
/// The same where somebody may abort, times the bytes of a point and for so many compute units: some 25 ms of BLS12-381.
const MAX_ABORTABLE: usize = 96 << 22;
const ABORTABLE_UNITS: u32 = 132;
/// A chunk smaller than this costs more in launches than its overlap with the next upload gains.
const MIN_STREAMED: usize = 1 << 17;
/// The same where nothing but scalars is uploaded.
const MIN_STREAMED_SCALARS: usize = 1 << 21;
/// Chunks that an upload is cut into, so that all but the first hide behind kernels.
const STREAMED_CHUNKS: usize = 4;
/// Smallest chunk that is tried where memory is short.
const MIN_CHUNK: usize = 1 << 8;
/// Most entries of a band where memory allows: every band looks at all scalars, and every round waits for inversions.
const BAND_ENTRIES: u64 = 1 << 28;
/// Narrowest window.
const MIN_WINDOW: u32 = 4;
/// Widest window: 2^8 bins of 2^11 rows each.
pub(super) const MAX_WINDOW: u32 = 20;
/// Most bins of a band: they are counted in local memory (`cl/msm_digits.cl`).
const MAX_BINS: u64 = 4096;
/// Groups of `msm_add_pairs` for each compute unit, and the pairs of a group's tile (`cl/msm_affine.cl`).
const AFFINE_GROUPS: u32 = 16;
const AFFINE_TILE: u64 = 4096;
/// Work-items of a group there.
const AFFINE_STEP: u64 = 32;
/// Pairs that pay for a group's inversion.
const MIN_TILE: u64 = 256;
/// Most rounds of halving.
const MAX_LEVELS: u32 = 4;

/// What is multiplied on which device, as far as sizes depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Problem {
    pub points: usize,
    /// Bits of the scalars at hand, and of those that precomputed multiples are made for.
    pub scalar_bits: u32,
    pub full_bits: u32,
    pub affine_bytes: u64,
    /// The bases are on the device already, and so are the scalars.
    pub resident: bool,
    pub scalars_resident: bool,
    /// Copies of each base there: multiples for windows that share buckets.
    pub copies: u32,
    /// The window to take; 0: the model's.
    pub window: u32,
    /// Rounds of batched affine additions; none: the model's.
    pub rounds: Option<u32>,
    /// The device's compute units.
    pub compute_units: u32,
    /// Multiplications that run on it at the same time.
    pub at_once: u32,
    /// Somebody may abort it.
    pub abortable: bool,
}

/// How a problem is cut into windows, bands and chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    problem: Problem,
    /// Most points that go through the device at a time.
    pub chunk: usize,
    /// Bits of a window.
    pub c: u32,
    /// Digits of a scalar.
    pub windows: u32,
    /// Windows with buckets of their own; the others share them, with precomputed multiples of the bases.
    pub sets: u32,
    /// Sets whose matrix is made and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions before the rest is added in XYZZ.
    pub levels: u32,
    /// Buckets of a segment in the reduction.
    pub segment: u32,
}

impl Plan {
    /// The plan that is fastest with as much memory as it likes.
    pub fn new(problem: Problem) -> Self {
        Self::with_chunk(problem, Self::largest_chunk(problem), u64::MAX).unwrap_or_else(|| Self::smallest(problem))
    }

    /// The fastest plan if it fits into `free` bytes, else the one that the model likes best of those that fit. The
    /// bytes that the smallest needs if none does.
    pub fn fit(problem: Problem, free: u64) -> Result<Self, u64> {
        let best = Self::new(problem);
        if best.bytes() <= free {
            return Ok(best);
        }
        let less = |chunk: &usize| (*chunk > MIN_CHUNK).then(|| chunk - chunk / 4);
        let chunks = std::iter::successors(Some(best.chunk), less);
        let plans = chunks.filter_map(|chunk| Self::with_chunk(problem, chunk, free));
        plans.min_by_key(Self::cost).ok_or_else(|| Self::smallest(problem).bytes())
    }

    fn largest_chunk(problem: Problem) -> usize {
        let parts = (problem.points / STREAMED_CHUNKS).max(MIN_STREAMED);
        let units = problem.compute_units.clamp(ABORTABLE_UNITS / 8, ABORTABLE_UNITS) as usize;
        let abortable = MAX_ABORTABLE / problem.affine_bytes as usize * units / ABORTABLE_UNITS as usize;
        let resident = if problem.abortable { abortable } else { MAX_RESIDENT };
        let (wanted, most) = match (problem.resident, problem.scalars_resident) {
            (true, true) => (problem.points, resident),
            (true, false) => (parts.max(MIN_STREAMED_SCALARS), resident),
            (false, _) => (parts, MAX_STREAMED),
        };
        wanted.clamp(1, most)
    }

    fn smallest(problem: Problem) -> Self {
        let window = if problem.window == 0 { MIN_WINDOW } else { problem.window };
        Self { band: 1, ..Self::with_window(problem, MIN_CHUNK, window, 0) }
    }

    /// The fastest plan with chunks of that size that fits.
    fn with_chunk(problem: Problem, chunk: usize, free: u64) -> Option<Self> {
        let windows = if problem.window == 0 { MIN_WINDOW..=MAX_WINDOW } else { problem.window..=problem.window };
        let levels = problem.rounds.map_or(0..=MAX_LEVELS, |rounds| rounds..=rounds);
        let plans =
            windows.flat_map(|c| levels.clone().map(move |levels| Self::with_window(problem, chunk, c, levels)));
        plans.filter_map(|plan| plan.in_bands_that_fit(free)).min_by_key(Self::cost)
    }

    /// The same in as wide bands as fit, if any do.
    fn in_bands_that_fit(mut self, free: u64) -> Option<Self> {
        while self.bytes() > free || !self.counts_in_32_bits() {
            if self.band == 1 {
                return None;
            }
            self.band = self.band.div_ceil(2);
        }
        Some(self)
    }

    fn with_window(problem: Problem, chunk: usize, c: u32, levels: u32) -> Self {
        // Scalars above half of the group's order are negated, which leaves them a bit less; their highest signed
        // digit may carry.
        let halved_bits = problem.full_bits - 1;
        let windows = (problem.scalar_bits.min(halved_bits) + 1).div_ceil(c);
        let sets = (halved_bits + 1).div_ceil(c).div_ceil(problem.copies).min(windows);
        let (copies, buckets) = (windows.div_ceil(sets), 1u64 << (c - 1));
        let entries = chunk.min(problem.points) as u64 * u64::from(copies);
        let most = (MAX_BINS / (buckets >> low_bits(c))).min(u64::from(sets));
        let band = (BAND_ENTRIES / entries.max(1)).clamp(1, most) as u32;
        let all_buckets = buckets * u64::from(sets);
        let segments = if all_buckets < MANY_BUCKETS { SEGMENTS } else { MANY_SEGMENTS };
        let wanted = all_buckets / segments;
        let segment = wanted.next_power_of_two().clamp(MIN_SEGMENT, buckets) as u32;
        Self { problem, chunk, c, windows, sets, band, levels, segment }
    }

    /// Whether a band's slots are numbered by 31 bits.
    fn counts_in_32_bits(&self) -> bool {
        self.cut(self.chunk, Band { from: 0, to: self.band }).slots(0) < 1 << 31
    }

    /// What the model says that all chunks take together.
    fn cost(&self) -> u64 {
        let points = self.problem.points as u64;
        let chunks = points.div_ceil(self.chunk as u64).max(1);
        let bands = chunks * u64::from(self.sets.div_ceil(self.band));
        let (entries, rows) = (points * u64::from(self.windows), u64::from(self.rows()));
        let left = entries >> self.levels;
        // What is left of a row is rounded up; its first addition is none, but in chunks after the first.
        let rounded = if self.levels == 0 { 0 } else { chunks * rows / 2 };
        let xyzz = (left + rounded + chunks * rows).saturating_sub(2 * rows.min(left));
        let mean = self.mean_row() >> self.levels;
        let longest = (mean + 4 * mean.isqrt() + 1).min(u64::from(MAX_PIECE));
        let costs = Costs::of(self.problem.affine_bytes);
        costs.affine * (entries - left)
            + costs.round * bands * u64::from(self.levels)
            + (costs.xyzz * xyzz).max(costs.latency * longest * bands)
            + ENTRY * entries
            + costs.bucket * rows
    }

    /// What a chunk of so many points takes by the model.
    pub fn time(&self, points: usize) -> Duration {
        let all = u128::from(self.cost()) * points as u128 / self.problem.points.max(1) as u128;
        Duration::from_nanos((all / 1000) as u64)
    }

    /// Buckets of a window: |digit| is 1 … 2^(c−1).
    pub fn buckets(&self) -> u32 {
        1 << (self.c - 1)
    }

    /// Buckets of all windows.
    pub fn rows(&self) -> u32 {
        self.sets * self.buckets()
    }

    /// Entries of a row on average, for scalars of full length.
    pub fn mean_row(&self) -> u64 {
        let copies = u64::from(self.copies());
        self.chunk.min(self.problem.points) as u64 * copies / u64::from(self.buckets())
    }

    /// Copies of each base that there are windows for.
    pub fn copies(&self) -> u32 {
        self.windows.div_ceil(self.sets)
    }

    /// The bands of sets, one after the other.
    pub fn bands(&self) -> impl Iterator<Item = Band> + use<> {
        let (sets, band) = (self.sets, self.band);
        (0..sets).step_by(band as usize).map(move |from| Band { from, to: sets.min(from + band) })
    }

    /// The chunks of the points. Where bases are uploaded the first of them is cut in two, since nothing hides the upload
    /// of what comes first; it is cut so that the kernels of the shorter part take as long as the other's upload.
    pub fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (points, chunk) = (self.problem.points, self.chunk);
        let first = if !self.problem.resident && chunk < points { chunk / 3 } else { 0 };
        let first = if first < MIN_STREAMED { 0 } else { first };
        let starts = (0..points).step_by(chunk);
        let cut = starts.map(move |start| start..points.min(start + chunk));
        let early = (first > 0).then_some(0..first);
        early.into_iter().chain(cut.map(move |range| if range.start == 0 { first..range.end } else { range }))
    }

    /// Whether a segment is the work of one work-item in the reduction, not of four.
    pub fn has_many_segments(&self) -> bool {
        u64::from(self.rows()) >= MANY_BUCKETS
    }

    /// Low bits of a row's number, by which entries are sorted within a bin.
    pub fn low_bits(&self) -> u32 {
        low_bits(self.c)
    }

    /// Segments of a window in the reduction.
    pub fn segments(&self) -> u32 {
        self.buckets() / self.segment
    }

    /// Binary logarithm of the segments of a window: the bits of a segment's number.
    pub fn segment_bits(&self) -> u32 {
        self.segments().ilog2()
    }

    /// Parts that each sum over a window's segments is cut into.
    pub fn parts(&self) -> u32 {
        (self.segments() / 2).div_ceil(PART).max(1)
    }

    /// Points that the reduction leaves: for each window one for every bit of a segment's number, and one
    /// for the segments' shares.
    pub fn sums(&self) -> u32 {
        self.sets * (self.segment_bits() + 1)
    }

    /// The power of two that such a point is to be multiplied by.
    pub fn weight(&self, sum: u32) -> u32 {
        let (window, bit) = (sum / (self.segment_bits() + 1), sum % (self.segment_bits() + 1));
        let within = if bit == self.segment_bits() { 0 } else { self.segment.ilog2() + bit };
        self.c * window + within
    }

    /// How a band of a chunk is cut.
    pub fn cut(&self, points: usize, band: Band) -> Cut {
        let (sets, copies) = (band.to - band.from, self.copies());
        let points = points as u32;
        // Twice the mean length in the largest chunk, so that rows of random scalars are one piece each.
        let mean = self.mean_row().div_ceil(1 << self.levels);
        let piece = (2 * mean).next_power_of_two().clamp(16, u64::from(MAX_PIECE)) as u32;
        // Half of the device's registers where others run beside: a round's inversions, and what others do between
        // their rounds, hide behind the other half's additions.
        let affine_groups = AFFINE_GROUPS / self.problem.at_once.clamp(1, 2) * self.problem.compute_units;
        let rows = sets * self.buckets();
        let (bins, levels, affine_bytes) = (rows >> self.low_bits(), self.levels, self.problem.affine_bytes);
        Cut { points, sets, copies, rows, bins, levels, affine_groups, affine_bytes, piece }
    }

    /// The largest cut, by which memory is allocated.
    pub fn room(&self) -> Cut {
        self.cut(self.chunk.min(self.problem.points), Band { from: 0, to: self.band })
    }

    /// Device bytes that it needs beside resident bases.
    pub fn bytes(&self) -> u64 {
        let affine = self.problem.affine_bytes;
        let cut = self.room();
        // Two chunks are on the device at once.
        let slots = if self.chunk < self.problem.points { 2 } else { 1 };
        let bases = if self.problem.resident { 0 } else { affine };
        let scalars = if self.problem.scalars_resident { 0 } else { 32 };
        let inputs = slots * self.chunk as u64 * (bases + scalars);
        let matrix = cut.first_bytes() + cut.second_bytes() + 4 * cut.slots(0) + 12 * u64::from(cut.rows);
        let halved = if self.levels == 0 { 0 } else { affine * cut.scratch() / 2 + 4 * cut.slots(1) };
        // A piece has its description (12 bytes), its place (4) and its sum.
        let reused = cut.partial_bytes() == cut.spare_bytes();
        let pieces = 16 * cut.pieces() + if reused { 0 } else { cut.partial_bytes() };
        let merges = 4 * (cut.units() + cut.long_rows());
        let buckets = u64::from(self.rows());
        let sums = u64::from(2 * self.sets * self.segments() + self.sums() * self.parts());
        inputs + matrix + halved + pieces + merges + 2 * affine * (buckets + sums) + (1 << 20)
    }
}

/// Sets `from` to `to` − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Band {
    pub from: u32,
    pub to: u32,
}

/// How the rows of the matrix of one chunk and band are laid out and cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub points: u32,
    sets: u32,
    copies: u32,
    pub rows: u32,
    /// Bins that entries are sorted into first.
    pub bins: u32,
    levels: u32,
    /// Most groups of a round of batched affine additions.
    affine_groups: u32,
    affine_bytes: u64,
    /// Longest piece of a row that one work-item sums.
    pub piece: u32,
}

impl Cut {
    /// At most this many entries that are not zero.
    pub fn entries(&self) -> u64 {
        u64::from(self.points) * u64::from(self.sets) * u64::from(self.copies)
    }

    /// Windows of the band, those of all copies.
    pub fn places(&self) -> u32 {
        self.sets * self.copies
    }

    /// At most this many slots of a level, rows being padded for the rounds of halving. A row that holds
    /// anything has an entry, so padding adds no more than one row's worth for each of them.
    pub fn slots(&self, level: u32) -> u64 {
        let padding = u64::from(self.rows).min(self.entries()) * ((1 << self.levels) - 1);
        (self.entries() + padding) >> level
    }

    /// Groups of a round of batched affine additions: no more than have an inversion's worth of pairs.
    pub fn affine_groups(&self) -> u64 {
        self.slots(1).div_ceil(MIN_TILE).min(u64::from(self.affine_groups))
    }

    /// Elements of scratch memory that those groups need: each as many as the pairs of its largest tile, in whole steps.
    pub fn scratch(&self) -> u64 {
        let share = self.slots(1).div_ceil(self.affine_groups().max(1));
        self.affine_groups() * share.next_multiple_of(AFFINE_STEP).min(AFFINE_TILE)
    }

    /// Bytes of the two large buffers of a band. First they hold the entries on their way to their rows (6 bytes each)
    /// and the digits (4 bytes), then what the rounds of halving leave, which they do in turns.
    pub fn first_bytes(&self) -> u64 {
        let halved = if self.levels == 0 { 0 } else { self.affine_bytes * self.slots(1) };
        halved.max(6 * self.entries())
    }

    /// See [`Self::first_bytes`].
    pub fn second_bytes(&self) -> u64 {
        let halved = if self.levels == 0 { 0 } else { self.affine_bytes * self.slots(2) };
        halved.max(4 * self.entries())
    }

    /// Bytes of that one of them which is free when pieces are summed.
    fn spare_bytes(&self) -> u64 {
        if self.levels.is_multiple_of(2) { self.first_bytes() } else { self.second_bytes() }
    }

    /// Bytes of the pieces' sums, or of the buffer which is free then and holds them.
    pub fn partial_bytes(&self) -> u64 {
        (2 * self.affine_bytes * self.pieces()).max(self.spare_bytes())
    }

    /// At most this many pieces: one for every row that is not empty, and one more per full piece.
    pub fn pieces(&self) -> u64 {
        u64::from(self.rows).min(self.entries()) + self.slots(self.levels) / u64::from(self.piece)
    }

    /// At most this many runs of pieces to be merged: one for every row of several pieces, each of which
    /// has a full one, and one more per full run.
    pub fn units(&self) -> u64 {
        self.slots(self.levels) / u64::from(self.piece) + self.pieces() / MERGE + 1
    }

    /// At most this many rows of several runs.
    pub fn long_rows(&self) -> u64 {
        self.pieces() / MERGE + 1
    }
}

/// Low bits of a row's number in windows of c bits.
fn low_bits(c: u32) -> u32 {
    (c - 1).saturating_sub(MAX_BIN_BITS).max(MIN_LOW_BITS).min(c - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(points: usize, resident: bool) -> Problem {
        let (scalar_bits, full_bits, affine_bytes, copies) = (255, 255, 96, 1);
        let (window, rounds, compute_units, scalars_resident) = (0, None, 132, resident);
        Problem {
            points,
            scalar_bits,
            full_bits,
            affine_bytes,
            resident,
            scalars_resident,
            copies,
            window,
            rounds,
            compute_units,
            at_once: 1,
            abortable: false,
        }
    }

    #[test]
    fn plans_hold_what_they_promise() {
        for points in (0..28).flat_map(|k| [(1usize << k) - 1, 1 << k, (1 << k) + 1]) {
            for (scalar_bits, resident) in [(64, true), (254, false), (255, true), (255, false)] {
                let plan = Plan::new(Problem { scalar_bits, ..problem(points.max(1), resident) });
                assert!(plan.windows * plan.c >= scalar_bits, "the carry of the top digit has room");
                for band in plan.bands() {
                    let cut = plan.cut(plan.chunk.min(points), band);
                    assert!(cut.piece <= MAX_PIECE && plan.buckets().is_multiple_of(plan.segment));
                    assert!(u32::try_from(cut.slots(0)).is_ok(), "entries are counted with 32 bits");
                }
                assert!((0..plan.sums()).all(|sum| plan.weight(sum) < plan.c * plan.windows));
            }
        }
    }

    #[test]
    fn windows_grow_with_the_number_of_points() {
        let width = |&log_n: &u32| Plan::new(problem(1 << log_n, true)).c;
        let widths: Vec<u32> = [10, 16, 20, 24].iter().map(width).collect();
        assert!(widths.is_sorted(), "{widths:?}");
    }

    #[test]
    fn chunks_follow_one_another() {
        for points in [1, 1000, (1 << 20) + 1, 1 << 22, (1 << 24) - 1] {
            for plan in [true, false].map(|resident| Plan::new(problem(points, resident))) {
                let ends: Vec<usize> = plan.chunks().map(|range| range.end).collect();
                let starts: Vec<usize> = plan.chunks().map(|range| range.start).collect();
                assert_eq!((starts[0], ends.last()), (0, Some(&points)));
                assert_eq!(starts[1..], ends[..ends.len() - 1], "{points} points");
                assert!(plan.chunks().all(|range| !range.is_empty() && range.len() <= plan.chunk));
            }
        }
    }

    #[test]
    fn what_may_be_aborted_comes_in_short_chunks() {
        for affine_bytes in [64, 96, 128, 192] {
            let problem = Problem { affine_bytes, abortable: true, ..problem(1 << 26, true) };
            let plan = Plan::new(problem);
            assert!(plan.time(plan.chunk) < Duration::from_millis(40), "{:?} of {plan:?}", plan.time(plan.chunk));
        }
    }

    #[test]
    fn chunks_shrink_until_they_fit() {
        let all = Plan::new(problem(1 << 20, false));
        let half = Plan::fit(problem(1 << 20, false), all.bytes() / 8).expect("a smaller chunk fits");
        assert!(half.chunk < all.chunk && half.bytes() <= all.bytes() / 8);
        assert!(Plan::fit(problem(1 << 20, false), 1000).is_err());
        assert!(Plan::fit(problem(1, true), 1 << 30).is_ok());
    }
}
