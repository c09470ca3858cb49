//! Searches for the plan that is fastest by the model.

use super::chunk_lengths::{largest_below, min_upload_points};
use super::cost_constants::MATRIX;
use super::mesh::{WindowAssignment, WindowWidths};
use super::msm_plan::MsmPlan;
use super::plan_input::PlanInput;
use crate::kernels::msm::FIRST_TILE;
use crate::msm::options::MAX_WINDOW;

/// Maximum points of a chunk whose bases come from the host, 2^23: nothing hides the upload of the first chunk's first
/// part.
const MAX_STREAMED: usize = 1 << 23;
/// Maximum points of a chunk whose bases come from the host, 2^21, if there is an abort hook. An abort waits for the
/// end of a chunk.
const MAX_STREAMED_ABORTABLE: usize = 1 << 21;
/// Maximum points of a chunk if nothing is uploaded, 2^24: some 90 ms of BLS12-381 G1.
const MAX_RESIDENT: usize = 1 << 24;
/// Maximum bytes of affine points of a resident chunk with an abort hook, on `ABORTABLE_UNITS` compute units: some 25
/// ms of BLS12-381.
const MAX_ABORTABLE: usize = 96 << 22;
/// Compute units of the device that `MAX_ABORTABLE` is for; smaller devices get shorter chunks.
const ABORTABLE_UNITS: u32 = 132;
/// Minimum points of a chunk if only scalars are uploaded, 2^21: smaller chunks cost more in launches than overlap
/// gains.
const MIN_STREAMED_SCALARS: usize = 1 << 21;
/// Number of chunks that an upload of scalars is cut into, so that kernels hide all but the first.
const SCALARS_CHUNKS: usize = 4;
/// Maximum number of full-length chunks that an upload of bases is cut into, after the shorter ones.
const STREAMED_CHUNKS: usize = 4;
/// Step of the search if memory is short: each number of chunks is larger than the last by `1/CHUNK_STEPS` of it.
const CHUNK_STEPS: usize = 8;
/// Minimum points of a chunk that the search tries if memory is short, 2^8.
const MIN_CHUNK: usize = 1 << 8;
/// Minimum bits of a window that the search tries.
pub(super) const MIN_WINDOW: u32 = 4;
/// Choices for the maximum pairs per inversion of a workgroup of `msm_batch_affine_add`, largest first. Smaller ones
/// take less memory for prefix products. The first round always has [`FIRST_TILE`].
const AFFINE_TILES: [u32; 3] = [FIRST_TILE, 4096, 2048];
/// Maximum rounds of batched affine additions.
const MAX_LEVELS: u32 = 4;

impl MsmPlan {
    /// Returns the plan for `problem` that is fastest by the model with unlimited memory.
    pub(crate) fn new(problem: PlanInput) -> Self {
        let chunks = Self::candidate_chunk_lengths(problem).into_iter();
        let plan = chunks.fold(None, |best, chunk| Self::try_chunk_len(problem, chunk, u64::MAX, best));
        plan.map_or_else(|| Self::smallest_plan(problem), |(_, plan)| plan)
    }

    /// Returns the plan for `problem` that is fastest by the model among those that fit into `free` bytes. If none
    /// fits, returns the bytes that the smallest plan needs.
    pub(crate) fn fit(problem: PlanInput, free: u64) -> Result<Self, u64> {
        let best = Self::new(problem);
        if best.workspace_bytes() <= free {
            return Ok(best);
        }
        let of = |count: usize| Self::whole_chunk_len(&problem, count);
        let with = |best, count: usize| Self::try_chunk_len(problem, of(count), free, best);
        let more = |count: &usize| (of(*count) > MIN_CHUNK).then(|| count + (count / CHUNK_STEPS).max(1));
        let plan = std::iter::successors(Some(best.whole_chunk_count()), more).fold(None, with);
        // Between two steps there may be a smaller number that fits.
        let below = |count: usize| count * CHUNK_STEPS / (CHUNK_STEPS + 1) + 1..count;
        let close = plan.map_or(0..0, |(_, plan)| below(plan.whole_chunk_count()));
        let plan = close.fold(plan, with);
        plan.map(|(_, plan)| plan).ok_or_else(|| Self::smallest_plan(problem).workspace_bytes())
    }

    /// Returns the maximum chunk lengths, in points, that the model compares with unlimited memory.
    fn candidate_chunk_lengths(problem: PlanInput) -> Vec<usize> {
        let units = problem.compute_units.clamp(ABORTABLE_UNITS / 8, ABORTABLE_UNITS) as usize;
        let abortable = MAX_ABORTABLE / problem.affine_bytes as usize * units / ABORTABLE_UNITS as usize;
        // Some of the windows take only a part of the time.
        let resident = (if problem.abortable { abortable } else { MAX_RESIDENT }) * problem.own.group_count() as usize;
        let resident = resident / problem.joined as usize;
        let streamed = if problem.abortable { MAX_STREAMED_ABORTABLE } else { MAX_STREAMED };
        let most = if problem.resident { resident } else { streamed };
        let wanted = |whole: usize| match (problem.resident, problem.scalars_resident) {
            (true, true) => problem.points,
            (true, false) => (problem.points / SCALARS_CHUNKS).max(MIN_STREAMED_SCALARS),
            (false, _) => Self::whole_chunk_len(&problem, whole).max(2 * min_upload_points(&problem)),
        };
        let count = if problem.resident { 1 } else { STREAMED_CHUNKS };
        let mut chunks: Vec<_> = (1..=count).map(|whole| wanted(whole).min(problem.points).clamp(1, most)).collect();
        chunks.dedup();
        chunks
    }

    fn smallest_plan(problem: PlanInput) -> Self {
        let window = if problem.window == 0 { MIN_WINDOW } else { problem.window };
        let widths = problem.own.widths().unwrap_or(WindowWidths { c: window, narrow: true });
        let halved = problem.can_use_glv(widths.c) && problem.halved == Some(true);
        let plan = Self::with_widths(problem, MIN_CHUNK, widths, 0, halved);
        if problem.joined > 1 { plan } else { Self { band: 1, ..plan } }
    }

    /// Returns the fastest plan with chunks of up to `chunk` points that fits into `free` bytes, and its cost in ps.
    /// Returns `best` if no plan is faster.
    fn try_chunk_len(problem: PlanInput, chunk: usize, free: u64, best: Option<(u64, Self)>) -> Option<(u64, Self)> {
        let least = MATRIX * problem.points.div_ceil(chunk) as u64;
        if best.is_some_and(|(cost, _)| cost <= least) {
            return best;
        }
        let windows = if problem.window == 0 { MIN_WINDOW..=MAX_WINDOW } else { problem.window..=problem.window };
        let levels = problem.rounds.map_or(0..=MAX_LEVELS, |rounds| rounds..=rounds);
        let any = windows.flat_map(|c| [true, false].map(|narrow| WindowWidths { c, narrow }));
        let widths = problem.own.widths().map_or_else(|| any.collect(), |widths| vec![widths]);
        let widths =
            widths.into_iter().flat_map(|widths| problem.glv_choices(widths.c).map(move |halved| (widths, halved)));
        let plans = widths.flat_map(|(widths, halved)| {
            levels.clone().map(move |levels| Self::with_widths(problem, chunk, widths, levels, halved))
        });
        plans.fold(best, |best, plan| plan.choose_faster(best, free))
    }

    /// Returns this plan with bands of windows and affine tiles (pairs per inversion) that fit into `free` bytes, and
    /// its cost in ps. Returns `best` if that is as fast. Narrower bands and smaller tiles only take longer.
    fn choose_faster(self, best: Option<(u64, Self)>, free: u64) -> Option<(u64, Self)> {
        if best.is_some_and(|(least, _)| least <= self.cost()) {
            return best;
        }
        let of = |affine_tile: u32| Self { affine_tile, ..self };
        if (Self { band: 1, ..of(AFFINE_TILES[AFFINE_TILES.len() - 1]) }).workspace_bytes() > free {
            return best;
        }
        let fits = AFFINE_TILES.iter().position(|tile| of(*tile).fits_limits(free)).unwrap_or(AFFINE_TILES.len() - 1);
        let fitting = AFFINE_TILES[..=fits].iter().filter_map(|tile| of(*tile).with_fitting_bands(free));
        best.into_iter().chain(fitting.map(|plan| (plan.cost(), plan))).min_by_key(|(cost, _)| *cost)
    }

    fn fits_limits(&self, free: u64) -> bool {
        self.workspace_bytes() <= free && self.slots_fit_31_bits() && self.joins_whole_vectors()
    }

    /// Returns this plan with the fewest bands of windows that fit into `free` bytes, all of about as many sets.
    /// Returns `None` if no number of bands fits.
    fn with_fitting_bands(self, free: u64) -> Option<Self> {
        let of = |band: u32| Self { band, ..self };
        if self.fits_limits(free) {
            return Some(self);
        }
        let widest = largest_below(self.band, |band| of(band).fits_limits(free));
        let bands = self.own_set_count().checked_div(widest).map(|_| self.own_set_count().div_ceil(widest));
        bands.map(|bands| of(self.own_set_count().div_ceil(bands)))
    }

    /// Returns the plan for chunks of `chunk` points, windows of `widths`, `levels` affine rounds, and GLV if `halved`.
    /// Narrow windows have fewer buckets but longer rows, which a multiplication of few points waits for.
    pub(super) fn with_widths(
        problem: PlanInput,
        chunk: usize,
        widths: WindowWidths,
        levels: u32,
        halved: bool,
    ) -> Self {
        let WindowWidths { c, narrow } = widths;
        // Scalars above half of the group's order are negated, which saves a bit; their highest signed digit may carry.
        let most = if halved { problem.half_bits } else { problem.full_bits - 1 };
        let bits = problem.scalar_bits.min(most) + 1;
        let windows = bits.div_ceil(c);
        let sets = (most + 1).div_ceil(c).div_ceil(problem.copies).min(windows);
        // Precomputed multiples belong to windows of equal width.
        let wide = if narrow && problem.copies == 1 { min_wide_windows(bits, c, windows) } else { sets };
        let (segment, skip, until) = (1 << (c - 1), 0, problem.points);
        let all = Self {
            problem,
            chunk,
            c,
            wide_windows: wide,
            glv: halved,
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
            WindowAssignment::WindowGroup(groups) => all.restrict_sets(all.costliest_group_sets(groups)),
            WindowAssignment::Agreed(group) => all.restrict_sets(group.sets()),
        }
    }

    /// Returns whether a matrix of several vectors has all of the device's windows: its buckets are in the order of its
    /// rows. Returns true for matrices of one vector.
    fn joins_whole_vectors(&self) -> bool {
        self.vectors_per_matrix() == 1 || self.band == self.own_set_count()
    }

    /// Returns whether 31 bits can number the slots (padded entries) of a band's matrix.
    fn slots_fit_31_bits(&self) -> bool {
        self.buffer_sizes().slots[0] < 1 << 31
    }
}

/// Returns the minimum number of windows of `c` bits, at least one, with which `windows` windows cover `bits` bits. The
/// other windows have `c` − 1 bits.
fn min_wide_windows(bits: u32, c: u32, windows: u32) -> u32 {
    bits.saturating_sub(windows * (c - 1)).max(1)
}
