//! Windows, chunks, bands, pieces and memory of a multi-scalar multiplication: sizes only, no device.

use std::ops::Range;
use std::time::Duration;

use super::costs::{Costs, ENTRY};
use super::cut::{Band, Cut};

/// Longest piece that kernels can order by length: `BINS` of `cl/msm_rows.cl`.
const MAX_PIECE: u32 = 512;
/// Segments wanted in the bucket reduction, each the work of four work-items.
const SEGMENTS: u64 = 1 << 13;
/// Buckets from which there are segments enough for one work-item each, and how many are wanted then.
const MANY_BUCKETS: u64 = 1 << 20;
const MANY_SEGMENTS: u64 = 1 << 15;
/// Shortest segment of a window of c bits: what follows it costs as much as a segment of this length.
const MIN_SEGMENT: u64 = 4;
/// Totals that one group of `msm_sum_bits` sums.
const PART: u32 = 64;
/// Binary logarithms of the bins of a window at most, and of the rows of a bin at least (`cl/msm_digits.cl`).
const MAX_BIN_BITS: u32 = 8;
const MIN_LOW_BITS: u32 = 7;
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
/// Groups of `msm_add_pairs` for each compute unit (`cl/msm_affine.cl`).
const AFFINE_GROUPS: u32 = 16;
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
    /// Vectors of scalars that each chunk is multiplied by.
    pub vectors: u32,
    /// Streams that have those vectors in turns, each with room for a chunk's matrix.
    pub lanes: u32,
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
    /// Bits of a window of the first `wide` sets; those of the others have one less.
    pub c: u32,
    pub wide: u32,
    /// Digits of a scalar.
    pub windows: u32,
    /// Windows with buckets of their own; the others share them, with precomputed multiples of the bases.
    pub sets: u32,
    /// Sets whose matrix is made and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions before the rest is added in XYZZ.
    pub levels: u32,
    /// Buckets of a segment in the reduction; half as many in narrow windows.
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
        wanted.min(problem.points).clamp(1, most)
    }

    fn smallest(problem: Problem) -> Self {
        let window = if problem.window == 0 { MIN_WINDOW } else { problem.window };
        Self { band: 1, ..Self::with_widths(problem, MIN_CHUNK, (window, true), 0) }
    }

    /// The fastest plan with chunks of that size that fits.
    fn with_chunk(problem: Problem, chunk: usize, free: u64) -> Option<Self> {
        let windows = if problem.window == 0 { MIN_WINDOW..=MAX_WINDOW } else { problem.window..=problem.window };
        let levels = problem.rounds.map_or(0..=MAX_LEVELS, |rounds| rounds..=rounds);
        let widths = windows.flat_map(|c| [(c, true), (c, false)]);
        let plans = widths
            .flat_map(|widths| levels.clone().map(move |levels| Self::with_widths(problem, chunk, widths, levels)));
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

    /// In windows of c bits; if `narrow`, as many of them as can be have a bit less: fewer buckets, but longer rows, which
    /// a multiplication of few points waits for.
    fn with_widths(problem: Problem, chunk: usize, (c, narrow): (u32, bool), levels: u32) -> Self {
        // Scalars above half of the group's order are negated, which leaves them a bit less; their highest signed
        // digit may carry.
        let halved_bits = problem.full_bits - 1;
        let bits = problem.scalar_bits.min(halved_bits) + 1;
        let windows = bits.div_ceil(c);
        let sets = (halved_bits + 1).div_ceil(c).div_ceil(problem.copies).min(windows);
        // Precomputed multiples are of windows of equal width.
        let wide = if narrow && problem.copies == 1 { fewest_wide(bits, c, windows) } else { sets };
        let (copies, buckets) = (windows.div_ceil(sets), 1u64 << (c - 1));
        let entries = chunk.min(problem.points) as u64 * u64::from(copies);
        let most = (MAX_BINS / (buckets >> low_bits(c))).min(u64::from(sets));
        let band = (BAND_ENTRIES / entries.max(1)).clamp(1, most) as u32;
        let all_buckets = u64::from(sets + wide) * buckets / 2;
        let segments = if all_buckets < MANY_BUCKETS { SEGMENTS } else { MANY_SEGMENTS };
        let wanted = all_buckets / segments;
        let segment = wanted.next_power_of_two().clamp(MIN_SEGMENT, buckets) as u32;
        Self { problem, chunk, c, wide, windows, sets, band, levels, segment }
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
            + costs.reduction(rows, self.segment.into(), self.has_many_segments())
    }

    /// What a chunk of so many points takes by the model.
    pub fn time(&self, points: usize) -> Duration {
        let all = u128::from(self.cost()) * points as u128 / self.problem.points.max(1) as u128;
        Duration::from_nanos((all / 1000) as u64)
    }

    /// Bits of a set's windows.
    pub fn bits(&self, set: u32) -> u32 {
        if set < self.wide { self.c } else { self.c - 1 }
    }

    /// The lowest bit of a window; the number of bits of all, where that is past the last one.
    pub fn first_bit(&self, window: u32) -> u32 {
        let all = |sets: u32| sets * (self.c - 1) + sets.min(self.wide);
        window / self.sets * all(self.sets) + all(window % self.sets)
    }

    /// Buckets of a set's windows: |digit| is 1 … 2^(bits−1).
    pub fn buckets(&self, set: u32) -> u32 {
        1 << (self.bits(set) - 1)
    }

    /// The bucket that a set's start with, all sets' being numbered one after the other.
    pub fn first_row(&self, set: u32) -> u32 {
        (set + set.min(self.wide)) << (self.c - 2)
    }

    /// Buckets of all windows.
    pub fn rows(&self) -> u32 {
        self.first_row(self.sets)
    }

    /// Entries of a row on average where that is most, in the narrowest windows, for scalars of full length.
    pub fn mean_row(&self) -> u64 {
        let copies = u64::from(self.copies());
        self.chunk.min(self.problem.points) as u64 * copies / u64::from(self.buckets(self.sets - 1))
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
        self.buckets(0) / self.segment
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
        let segment = self.buckets(window) / self.segments();
        let within = if bit == self.segment_bits() { 0 } else { segment.ilog2() + bit };
        self.first_bit(window) + within
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
        let affine_groups =
            AFFINE_GROUPS / self.problem.at_once.max(self.problem.lanes).clamp(1, 2) * self.problem.compute_units;
        let rows = self.first_row(band.to) - self.first_row(band.from);
        let (bins, levels, affine_bytes) = (rows >> self.low_bits(), self.levels, self.problem.affine_bytes);
        Cut { points, sets, copies, rows, bins, levels, affine_groups, affine_bytes, piece }
    }

    /// The largest cut, by which memory is allocated: the widest windows come first.
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
        let vectors = u64::from(self.problem.vectors);
        let inputs = slots * self.chunk as u64 * (bases + vectors * scalars);
        let matrix = cut.first_bytes() + cut.second_bytes() + 4 * cut.slots(0) + 12 * u64::from(cut.rows);
        let halved = if self.levels == 0 { 0 } else { affine * cut.scratch() / 2 + 4 * cut.slots(1) };
        // A piece has its description (12 bytes), its place (4) and its sum.
        let reused = cut.partial_bytes() == cut.spare_bytes();
        let pieces = 16 * cut.pieces() + if reused { 0 } else { cut.partial_bytes() };
        let merges = 4 * (cut.units() + cut.long_rows());
        let buckets = u64::from(self.rows());
        let sums = u64::from(2 * self.sets * self.segments() + self.sums() * self.parts());
        let scratch = matrix + halved + pieces + merges + 2 * affine * sums + (1 << 20);
        inputs + u64::from(self.problem.lanes) * scratch + 2 * affine * vectors * buckets
    }
}

/// Low bits of a row's number in windows of c bits and c − 1, all of which start with a bin.
fn low_bits(c: u32) -> u32 {
    (c - 1).saturating_sub(MAX_BIN_BITS).max(MIN_LOW_BITS).min(c - 2)
}

/// How many windows need c bits for `bits` in all, if the others have one less; the first one always has.
fn fewest_wide(bits: u32, c: u32, windows: u32) -> u32 {
    bits.saturating_sub(windows * (c - 1)).max(1)
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
            vectors: 1,
            lanes: 1,
            at_once: 1,
            abortable: false,
        }
    }

    #[test]
    fn plans_hold_what_they_promise() {
        for points in (0..28).flat_map(|k| [(1usize << k) - 1, 1 << k, (1 << k) + 1]) {
            for (scalar_bits, resident) in [(64, true), (254, false), (255, true), (255, false)] {
                let plan = Plan::new(Problem { scalar_bits, ..problem(points.max(1), resident) });
                assert!(plan.first_bit(plan.windows) >= scalar_bits.min(255), "the carry of the top digit has room");
                for band in plan.bands() {
                    let cut = plan.cut(plan.chunk.min(points), band);
                    assert!(cut.piece <= MAX_PIECE && plan.buckets(0).is_multiple_of(plan.segment));
                    assert!(u32::try_from(cut.slots(0)).is_ok(), "entries are counted with 32 bits");
                }
                assert!((0..plan.sums()).all(|sum| plan.weight(sum) < plan.first_bit(plan.sets)));
            }
        }
    }

    /// Plans of every width for scalars of so many bits, of which the carry takes one more.
    fn of_every_width(scalar_bits: u32, copies: u32) -> impl Iterator<Item = Plan> {
        let problem = Problem { scalar_bits, copies, ..problem(1 << 12, true) };
        (MIN_WINDOW..=MAX_WINDOW).map(move |c| Plan::with_widths(problem, 1 << 12, (c, true), 0))
    }

    /// Rows of few points are too short to make it worth waiting for longer ones.
    #[test]
    fn windows_of_many_points_are_narrow() {
        let narrow = |log_n: u32| {
            let plan = Plan::new(Problem { window: 19, ..problem(1 << log_n, true) });
            plan.sets - plan.wide
        };
        assert_eq!((narrow(24), narrow(26)), (11, 11));
        let few = Plan::new(Problem { window: 10, ..problem(1 << 14, true) });
        assert_eq!(few.wide, few.sets, "{few:?}");
    }

    #[test]
    fn no_more_windows_are_wide_than_needed() {
        for bits in 0..=254 {
            for plan in of_every_width(bits, 1) {
                let (narrow, held) = (plan.sets - plan.wide, plan.first_bit(plan.windows));
                assert_eq!(held, plan.wide * plan.c + narrow * (plan.c - 1), "{plan:?}");
                assert!(held > bits && (plan.wide == 1 || held == bits + 1), "{bits} bits: {plan:?}");
            }
            assert!(of_every_width(bits, 3).all(|plan| plan.wide == plan.sets), "multiples are of equal windows");
        }
        let plan = of_every_width(255, 1).last().expect("20 bits");
        assert_eq!((plan.wide, plan.sets, plan.rows()), (8, 13, (8 << 19) + (5 << 18)));
    }

    #[test]
    fn rows_and_bits_of_windows_follow_one_another() {
        for plan in [8, 64, 254].into_iter().flat_map(|bits| of_every_width(bits, 1).chain(of_every_width(bits, 4))) {
            for set in 0..plan.sets {
                let (rows, low) = (plan.first_row(set)..plan.first_row(set + 1), plan.low_bits());
                assert_eq!(
                    (rows.start >> low << low, rows.len()),
                    (rows.start, plan.buckets(set) as usize),
                    "{plan:?}"
                );
                assert_eq!(plan.first_bit(set + 1), plan.first_bit(set) + plan.bits(set), "{plan:?}");
            }
            assert_eq!(plan.bands().map(|band| plan.cut(1, band).rows).sum::<u32>(), plan.rows());
        }
    }

    /// A bucket's share, and the bits of its segment's number, make up its number in the window.
    #[test]
    fn weights_are_those_of_the_buckets() {
        for plan in of_every_width(254, 1).chain(of_every_width(64, 1)).chain(of_every_width(254, 3)) {
            let (sums, last) = (plan.segment_bits() + 1, plan.segments() - 1);
            for set in 0..plan.sets {
                let weight = |bit: u32| 1u32 << (plan.weight(set * sums + bit) - plan.first_bit(set));
                let segment = plan.buckets(set) / plan.segments();
                assert!(segment >= 1 && weight(plan.segment_bits()) == 1, "{plan:?}");
                let before = (0..plan.segment_bits()).filter(|bit| last >> bit & 1 == 1).map(weight).sum::<u32>();
                assert_eq!(before + segment, plan.buckets(set), "{plan:?}");
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

    /// Vectors that share the bases have buckets of their own, and scalars where these come from the host too.
    #[test]
    fn several_vectors_share_bases_and_scratch() {
        let of = |vectors, scalars_resident| Problem { scalars_resident, vectors, ..problem(1 << 20, false) };
        let [one, four] = [1, 4].map(|vectors| Plan::new(of(vectors, true)));
        assert_eq!(four.bytes() - one.bytes(), 3 * 192 * u64::from(one.rows()));
        let [one, four] = [1, 4].map(|vectors| Plan::new(of(vectors, false)));
        assert_eq!(four.bytes() - one.bytes(), 3 * (192 * u64::from(one.rows()) + 2 * 32 * one.chunk as u64));
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
