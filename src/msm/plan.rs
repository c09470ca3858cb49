//! Windows, chunks, bands, pieces and memory of a multi-scalar multiplication: sizes only, no device.

mod chunks;
mod segments;
#[cfg(test)]
pub(super) mod tests;
mod windows;

use std::time::Duration;

use self::chunks::{Passes, start};
use super::costs::{Costs, DIGITS, ENTRY, MATRIX, OTHER_DIGIT, SCATTERED, TIMES_LAMBDA, UNITS};
use super::cut::{Band, Cut};
use super::grid::Windows;

/// Longest piece that kernels can order by length: `BINS` of `cl/msm_rows.cl`.
const MAX_PIECE: u32 = 512;
/// Binary logarithms of the bins of a window at most, and of the rows of a bin at least (`cl/msm_digits.cl`).
const MAX_BIN_BITS: u32 = 8;
const MIN_LOW_BITS: u32 = 7;
/// Most points of a chunk of bases that come from the host: nothing hides the upload of the first one's first part. Where somebody
/// may abort, it bounds the wait after that.
const MAX_STREAMED: usize = 1 << 23;
const MAX_STREAMED_ABORTABLE: usize = 1 << 21;
/// Most points of a chunk where nothing is uploaded: some 90 ms of BLS12-381 G1.
const MAX_RESIDENT: usize = 1 << 24;
/// The same where somebody may abort, times the bytes of a point and for so many compute units: some 25 ms of BLS12-381.
const MAX_ABORTABLE: usize = 96 << 22;
const ABORTABLE_UNITS: u32 = 132;
/// Smallest chunk where nothing but scalars is uploaded: smaller ones cost more in launches than overlap gains.
const MIN_STREAMED_SCALARS: usize = 1 << 21;
/// Chunks that an upload of scalars is cut into, so that all but the first hide behind kernels.
const SCALARS_CHUNKS: usize = 4;
/// Whole chunks that one of bases is cut into at most, after shorter ones.
const STREAMED_CHUNKS: usize = 4;
/// Where memory is short, numbers of chunks are tried of which each is larger than the one before by this part.
const CHUNK_STEPS: usize = 8;
/// Smallest chunk that is tried then.
const MIN_CHUNK: usize = 1 << 8;
/// Most entries of a band where memory allows: every band looks at all scalars, and every round waits for inversions.
const BAND_ENTRIES: u64 = 1 << 28;
/// Narrowest window.
const MIN_WINDOW: u32 = 4;
/// Widest window: 2^8 bins of 2^11 rows each. Halves of scalars have two rows a bucket.
pub(super) const MAX_WINDOW: u32 = 20;
const MAX_HALVED_WINDOW: u32 = 19;
/// Most bins of a band: they are counted in local memory (`cl/msm_digits.cl`).
const MAX_BINS: u64 = 4096;
/// Groups of `msm_add_pairs` for each compute unit (`cl/msm_affine.cl`).
const AFFINE_GROUPS: u32 = 16;
/// Most pairs of such a group for an inversion, by what memory there is for their prefix products; in the first round, where these
/// are in the place of the sums, 8192.
const AFFINE_TILES: [u32; 3] = [8192, 4096, 2048];
/// Affine additions of a matrix that groups share evenly before they start; of more, the last ones go to who is ready first.
const FIXED_SHARES: u64 = 1 << 17;
/// Inversions of all groups that take as long as a round that has hardly any pairs.
const INVERSIONS: u64 = 3;
/// What the visit of a bucket by a chunk after the first takes of an addition, in percent.
const VISIT: u64 = 67;
/// Most rounds of halving.
const MAX_LEVELS: u32 = 4;

/// What is multiplied on which device, as far as sizes depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Problem {
    pub points: usize,
    /// Bits of the scalars at hand, and of those that precomputed multiples are made for.
    pub scalar_bits: u32,
    pub full_bits: u32,
    /// Bits of the halves of scalars, by the curve's endomorphism.
    pub half_bits: u32,
    /// Whether scalars of full length are halved; none: as the model says.
    pub halved: Option<bool>,
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
    /// Those of one matrix: all of them, which wait once then for what a matrix waits for, or each for itself.
    pub joined: u32,
    /// Streams that have those vectors in turns, each with room for a chunk's matrix.
    pub lanes: u32,
    /// Multiplications that run on it at the same time.
    pub at_once: u32,
    /// Somebody may abort it.
    pub abortable: bool,
    /// Which of the windows the device does; without copies of the bases only.
    pub own: Windows,
}

impl Problem {
    /// Whether scalars can be halved for windows of c bits: those of full length, where the device does all windows of the bases
    /// alone.
    fn can_be_halved(&self, c: u32) -> bool {
        let all = self.copies == 1 && self.own == Windows::Group(1);
        all && self.half_bits > 0 && self.scalar_bits == self.full_bits && c <= MAX_HALVED_WINDOW
    }

    /// Bytes that are uploaded for so many points.
    fn input_bytes(&self, points: usize) -> u64 {
        let bases = if self.resident { 0 } else { self.affine_bytes };
        let scalars = if self.scalars_resident { 0 } else { 32 };
        points as u64 * (bases + u64::from(self.vectors) * scalars)
    }

    /// Whether to halve them, to be tried.
    fn halvings(self, c: u32) -> impl Iterator<Item = bool> {
        let wanted = if self.can_be_halved(c) { self.halved } else { Some(false) };
        [false, true].into_iter().filter(move |halved| wanted.is_none_or(|wanted| wanted == *halved))
    }
}

/// How a problem is cut into windows, bands and chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    problem: Problem,
    /// Most points that go through the device at a time.
    pub chunk: usize,
    /// Bits of a window of `wide` sets; those of the others have one less. They are spread evenly, for groups of sets to
    /// cost the same; the first one is wide.
    pub c: u32,
    pub wide: u32,
    /// Scalars are halved: windows are those of the halves, and a bucket has a row for each.
    pub halved: bool,
    /// Digits of a scalar, or of a half.
    pub windows: u32,
    /// Windows with buckets of their own; the others share them, with precomputed multiples of the bases.
    pub sets: u32,
    /// The sets that the device does, up to the one before `end_set`.
    pub first_set: u32,
    pub end_set: u32,
    /// The first of these only of the points from `skip` on, the last only of those before `until`.
    skip: usize,
    until: usize,
    /// Sets whose matrix is made and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions before the rest is added in XYZZ.
    pub levels: u32,
    /// Most pairs for an inversion in those.
    affine_tile: u32,
    /// Buckets of a segment in the reduction; half as many in narrow windows.
    pub segment: u32,
    /// Four work-items reduce a segment, not one.
    pub quads: bool,
}

impl Plan {
    /// The plan that is fastest with as much memory as it likes.
    pub fn new(problem: Problem) -> Self {
        let chunks = Self::largest_chunks(problem).into_iter();
        let plan = chunks.fold(None, |best, chunk| Self::with_chunk(problem, chunk, u64::MAX, best));
        plan.map_or_else(|| Self::smallest(problem), |(_, plan)| plan)
    }

    /// The fastest plan if it fits into `free` bytes, else the one that the model likes best of those that fit. The
    /// bytes that the smallest needs if none does.
    pub fn fit(problem: Problem, free: u64) -> Result<Self, u64> {
        let best = Self::new(problem);
        if best.bytes() <= free {
            return Ok(best);
        }
        let of = |count: usize| Self::chunk_of(&problem, count);
        let with = |best, count: usize| Self::with_chunk(problem, of(count), free, best);
        let more = |count: &usize| (of(*count) > MIN_CHUNK).then(|| count + (count / CHUNK_STEPS).max(1));
        let plan = std::iter::successors(Some(best.whole_chunks()), more).fold(None, with);
        // Between two steps there may be a smaller number that fits.
        let below = |count: usize| count * CHUNK_STEPS / (CHUNK_STEPS + 1) + 1..count;
        let close = plan.map_or(0..0, |(_, plan)| below(plan.whole_chunks()));
        let plan = close.fold(plan, with);
        plan.map(|(_, plan)| plan).ok_or_else(|| Self::smallest(problem).bytes())
    }

    /// The largest chunks, of which the model is asked.
    fn largest_chunks(problem: Problem) -> Vec<usize> {
        let units = problem.compute_units.clamp(ABORTABLE_UNITS / 8, ABORTABLE_UNITS) as usize;
        let abortable = MAX_ABORTABLE / problem.affine_bytes as usize * units / ABORTABLE_UNITS as usize;
        // Some of the windows take but a part of the time.
        let resident = (if problem.abortable { abortable } else { MAX_RESIDENT }) * problem.own.groups() as usize;
        let resident = resident / problem.joined as usize;
        let streamed = if problem.abortable { MAX_STREAMED_ABORTABLE } else { MAX_STREAMED };
        let most = if problem.resident { resident } else { streamed };
        let wanted = |whole: usize| match (problem.resident, problem.scalars_resident) {
            (true, true) => problem.points,
            (true, false) => (problem.points / SCALARS_CHUNKS).max(MIN_STREAMED_SCALARS),
            (false, _) => Self::chunk_of(&problem, whole).max(2 * start(&problem)),
        };
        let count = if problem.resident { 1 } else { STREAMED_CHUNKS };
        let mut chunks: Vec<_> = (1..=count).map(|whole| wanted(whole).min(problem.points).clamp(1, most)).collect();
        chunks.dedup();
        chunks
    }

    fn smallest(problem: Problem) -> Self {
        let window = if problem.window == 0 { MIN_WINDOW } else { problem.window };
        let widths = problem.own.widths().unwrap_or((window, true));
        let halved = problem.can_be_halved(widths.0) && problem.halved == Some(true);
        let plan = Self::with_widths(problem, MIN_CHUNK, widths, 0, halved);
        if problem.joined > 1 { plan } else { Self { band: 1, ..plan } }
    }

    /// The fastest plan with chunks of that size that fits, or `best`, where none is faster; with its cost.
    fn with_chunk(problem: Problem, chunk: usize, free: u64, best: Option<(u64, Self)>) -> Option<(u64, Self)> {
        let least = MATRIX * problem.points.div_ceil(chunk) as u64;
        if best.is_some_and(|(cost, _)| cost <= least) {
            return best;
        }
        let windows = if problem.window == 0 { MIN_WINDOW..=MAX_WINDOW } else { problem.window..=problem.window };
        let levels = problem.rounds.map_or(0..=MAX_LEVELS, |rounds| rounds..=rounds);
        let any = windows.flat_map(|c| [(c, true), (c, false)]);
        let widths = problem.own.widths().map_or_else(|| any.collect(), |widths| vec![widths]);
        let widths =
            widths.into_iter().flat_map(|widths| problem.halvings(widths.0).map(move |halved| (widths, halved)));
        let plans = widths.flat_map(|(widths, halved)| {
            levels.clone().map(move |levels| Self::with_widths(problem, chunk, widths, levels, halved))
        });
        plans.fold(best, |best, plan| plan.if_faster(best, free))
    }

    /// This plan in bands and tiles that fit, or `best`, where that is as fast. Narrower bands and smaller tiles only take longer.
    fn if_faster(self, best: Option<(u64, Self)>, free: u64) -> Option<(u64, Self)> {
        if best.is_some_and(|(least, _)| least <= self.cost()) {
            return best;
        }
        let of = |affine_tile: u32| Self { affine_tile, ..self };
        if (Self { band: 1, ..of(AFFINE_TILES[AFFINE_TILES.len() - 1]) }).bytes() > free {
            return best;
        }
        let fits = AFFINE_TILES.iter().position(|tile| of(*tile).is_possible(free)).unwrap_or(AFFINE_TILES.len() - 1);
        let fitting = AFFINE_TILES[..=fits].iter().filter_map(|tile| of(*tile).in_bands_that_fit(free));
        best.into_iter().chain(fitting.map(|plan| (plan.cost(), plan))).min_by_key(|(cost, _)| *cost)
    }

    fn is_possible(&self, free: u64) -> bool {
        self.bytes() <= free && self.counts_in_32_bits() && self.joins_whole_vectors()
    }

    /// The same in as few bands as fit, of as many sets each, if any do.
    fn in_bands_that_fit(self, free: u64) -> Option<Self> {
        let of = |band: u32| Self { band, ..self };
        if self.is_possible(free) {
            return Some(self);
        }
        let widest = largest_below(self.band, |band| of(band).is_possible(free));
        let bands = self.own_sets().checked_div(widest).map(|_| self.own_sets().div_ceil(widest));
        bands.map(|bands| of(self.own_sets().div_ceil(bands)))
    }

    /// In windows of c bits; if `narrow`, as many of them as can be have a bit less: fewer buckets, but longer rows, which
    /// a multiplication of few points waits for.
    fn with_widths(problem: Problem, chunk: usize, (c, narrow): (u32, bool), levels: u32, halved: bool) -> Self {
        // Scalars above half of the group's order are negated, which leaves them a bit less; their highest signed
        // digit may carry.
        let most = if halved { problem.half_bits } else { problem.full_bits - 1 };
        let bits = problem.scalar_bits.min(most) + 1;
        let windows = bits.div_ceil(c);
        let sets = (most + 1).div_ceil(c).div_ceil(problem.copies).min(windows);
        // Precomputed multiples are of windows of equal width.
        let wide = if narrow && problem.copies == 1 { fewest_wide(bits, c, windows) } else { sets };
        let (segment, skip, until) = (1 << (c - 1), 0, problem.points);
        let all = Self {
            problem,
            chunk,
            c,
            wide,
            halved,
            windows,
            sets,
            first_set: 0,
            end_set: sets,
            skip,
            until,
            band: 1,
            levels,
            affine_tile: AFFINE_TILES[0],
            segment,
            quads: true,
        };
        match problem.own {
            Windows::Group(groups) => all.of_sets(all.dearest_group(groups)),
            Windows::Agreed(group) => all.of_sets(group.sets()),
        }
    }

    /// Where several vectors are one matrix, a band has all sets: buckets are in the order of its rows.
    fn joins_whole_vectors(&self) -> bool {
        self.joined() == 1 || self.band == self.own_sets()
    }

    /// Whether a band's slots are numbered by 31 bits.
    fn counts_in_32_bits(&self) -> bool {
        self.room().slots[0] < 1 << 31
    }

    /// Whether other multiplications run on the device at the same time, as far as it is known.
    pub fn runs_beside_others(&self) -> bool {
        self.problem.at_once.max(self.problem.lanes) > 1
    }

    /// Vectors of one matrix.
    pub fn joined(&self) -> u32 {
        self.problem.joined
    }

    /// What the model says that all chunks take together, of all vectors that are joined.
    pub fn cost(&self) -> u64 {
        let vectors = u64::from(self.joined());
        let points = self.problem.points as u64;
        let Passes { chunks, matrices, waits, again } = self.passes();
        let others = self.sets - self.own_sets();
        let (shared, rows) = ((self.skip + self.problem.points - self.until) as u64, u64::from(self.all_rows()));
        let halves = u64::from(self.halves());
        let entries = halves * vectors * (points * u64::from(self.windows - others)).saturating_sub(shared);
        let left = entries >> self.levels;
        // What is left of a row of a chunk is rounded up; the bucket's first addition is none, but every chunk looks at it.
        let rounded = if self.levels == 0 { 0 } else { chunks * halves * rows / 2 };
        let xyzz = (left + rounded + rows + (chunks - 1) * rows * VISIT / 100).saturating_sub(2 * rows.min(left));
        // The chains of halves' rows in narrow windows, of both halves, are so long that they are waited for.
        let row = if self.halved { self.mean_row() } else { entries / (chunks * rows).max(1) };
        let mean = row >> self.levels;
        let longest = (mean + 4 * mean.isqrt() + 1).min(u64::from(MAX_PIECE));
        let costs = Costs::of(self.problem.affine_bytes);
        let additions = (entries - left).saturating_sub(rounded - rounded / chunks);
        let taken = additions.saturating_sub(matrices * FIXED_SHARES * UNITS);
        let lambda = (halves - 1) * costs.xyzz / TIMES_LAMBDA;
        let uneven = 100 + costs.uneven(chunks * rows / matrices.max(1), self.problem.compute_units.into());
        let scattered = if self.halved && self.sorted_bits() == MAX_WINDOW { SCATTERED } else { 0 };
        let kernels = costs.affine * additions - costs.taken * taken
            + waits
            + (costs.xyzz + lambda) * xyzz * uneven / 100
            + costs.tail * longest * matrices
            + costs.round * (entries - left)
                / (INVERSIONS * u64::from(AFFINE_GROUPS) * UNITS * u64::from(self.affine_tile))
            + (ENTRY + scattered) * entries
            + DIGITS * vectors * again
            + OTHER_DIGIT * vectors * points * u64::from(others)
            + costs.row * halves * rows;
        // Vectors that are not joined have their kernels one after the other.
        let times = u64::from(self.problem.vectors / self.problem.joined).max(1);
        self.behind_uploads(times * kernels) / times + self.reduction() + costs.bit * self.bits_alone()
    }

    /// Bits of the windows of a vector whose last step, the host's, hides behind no other's kernels.
    fn bits_alone(&self) -> u64 {
        let alone = self.problem.vectors == 1 && self.problem.at_once == 1;
        if alone { self.first_bit(self.windows).into() } else { 0 }
    }

    /// What a chunk of so many points takes by the model, of all vectors that are joined.
    pub fn time(&self, points: usize) -> Duration {
        let all = u128::from(self.cost()) * points as u128 / self.problem.points.max(1) as u128;
        Duration::from_nanos((all / 1000) as u64)
    }

    /// Entries of a row on average where that is most, in the narrowest windows, for scalars of full length.
    pub fn mean_row(&self) -> u64 {
        let copies = u64::from(self.copies());
        let narrowest = if self.wide < self.sets { self.c - 1 } else { self.c };
        self.chunk.min(self.problem.points) as u64 * copies / (1 << (narrowest - 1))
    }

    /// Copies of each base that there are windows for, or halves of its scalar.
    pub fn copies(&self) -> u32 {
        self.windows.div_ceil(self.sets) * self.halves()
    }

    /// Bits of half a scalar.
    pub fn half_bits(&self) -> u32 {
        self.problem.half_bits
    }

    /// Rows of a bucket.
    pub fn halves(&self) -> u32 {
        if self.halved { 2 } else { 1 }
    }

    /// Bits of a digit as entries are sorted by them: those of a wide window, and which half it is of.
    pub fn sorted_bits(&self) -> u32 {
        self.c + u32::from(self.halved)
    }

    /// Low bits of a row's number, by which entries are sorted within a bin.
    pub fn low_bits(&self) -> u32 {
        low_bits(self.sorted_bits())
    }

    /// How a band of a chunk is cut.
    pub fn cut(&self, points: usize, band: Band) -> Cut {
        self.cut_in(points, band, self.shape(points).levels)
    }

    fn cut_in(&self, points: usize, band: Band, levels: u32) -> Cut {
        let (sets, copies) = (band.to - band.from, self.copies());
        let points = points as u32;
        // Twice the mean length in the largest chunk, so that rows of random scalars are one piece each.
        let mean = self.mean_row().div_ceil(1 << self.levels);
        let piece = (2 * mean).next_power_of_two().clamp(16, u64::from(MAX_PIECE)) as u32;
        // Half of the device's registers where others run beside: a round's inversions, and what others do between
        // their rounds, hide behind the other half's additions. Joined vectors have less to hide than that costs.
        let beside = if self.joined() == 1 && self.runs_beside_others() { 2 } else { 1 };
        let affine_groups = AFFINE_GROUPS / beside * self.problem.compute_units;
        let affine_tile = self.affine_tile;
        let vectors = self.joined();
        let buckets = vectors * (self.first_row(band.to) - self.first_row(band.from));
        let rows = self.halves() * buckets;
        let (bins, affine_bytes) = (rows >> self.low_bits(), self.problem.affine_bytes);
        Cut {
            points,
            vectors,
            sets,
            copies,
            buckets,
            rows,
            bins,
            levels,
            affine_groups,
            affine_tile,
            affine_bytes,
            piece,
        }
    }

    /// Device bytes that it needs beside resident bases.
    pub fn bytes(&self) -> u64 {
        let affine = self.problem.affine_bytes;
        // Two chunks are on the device at once.
        let slots = if self.chunk < self.problem.points { 2 } else { 1 };
        let vectors = u64::from(self.problem.vectors);
        let inputs = slots * self.problem.input_bytes(self.chunk);
        let buckets = u64::from(self.rows());
        let sums = u64::from(self.joined() * (2 * self.own_sets() * self.segments() + self.sums() * self.parts()));
        let scratch = self.room().bytes() + 2 * affine * sums + (1 << 20);
        inputs + u64::from(self.problem.lanes) * scratch + 2 * affine * vectors * buckets
    }
}

/// The largest number below `end` that fits, where all smaller ones do too; 0 if none does.
fn largest_below(end: u32, fits: impl Fn(u32) -> bool) -> u32 {
    let (mut largest, mut too_large) = (0, end);
    while too_large - largest > 1 {
        let middle = largest.midpoint(too_large);
        if fits(middle) { largest = middle } else { too_large = middle }
    }
    largest
}

/// Low bits of a row's number in windows of c bits and c − 1, all of which start with a bin.
fn low_bits(c: u32) -> u32 {
    (c - 1).saturating_sub(MAX_BIN_BITS).max(MIN_LOW_BITS).min(c - 2)
}

/// How many windows need c bits for `bits` in all, if the others have one less; the first one always has.
fn fewest_wide(bits: u32, c: u32, windows: u32) -> u32 {
    bits.saturating_sub(windows * (c - 1)).max(1)
}
