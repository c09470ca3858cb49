//! Chooses the bands and rounds of a chunk, and how the matrix of each band is cut.

use super::chunks::largest_below;
use super::cost_constants::{CostConstants, FIRST_MATRIX, GLV_MATRIX, MATRIX};
use super::msm_plan::MsmPlan;
use super::sizes::{BufferSizes, MatrixSizes, WindowRange};

/// Longest piece that kernels can order by length: `BINS` of `cl/msm_digits.cl`.
pub(super) const MAX_PIECE: u32 = 512;
/// Maximum bins of a band: kernels count them in local memory (`cl/msm_digits.cl`).
pub(super) const MAX_BINS: u64 = 4096;
/// Groups of `msm_batch_affine_add` for each compute unit (`cl/msm_batch_affine.cl`).
pub(super) const AFFINE_GROUPS: u32 = 16;

/// Describes how a chunk of some length runs: sets at a time, and rounds of batched affine additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkShape {
    pub band: u32,
    pub levels: u32,
}

/// Holds totals of all chunks:
/// - `chunks`: their number;
/// - `matrices`: their matrices, one per band;
/// - `waits`: the time that kernels wait by the model, however little work there is;
/// - `again`: the scalars that a chunk's later bands read again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PassTotals {
    pub chunks: u64,
    pub matrices: u64,
    pub waits: u64,
    pub again: u64,
}

impl MsmPlan {
    /// Returns the totals of all chunks.
    pub(super) fn passes(&self) -> PassTotals {
        let round = CostConstants::for_affine_bytes(self.problem.affine_bytes).round;
        let matrix = if self.glv { MATRIX + GLV_MATRIX } else { MATRIX };
        // The first matrix takes this beside the cost of every matrix.
        let first = PassTotals { waits: FIRST_MATRIX - matrix, ..PassTotals::default() };
        self.lengths().fold(first, |all, (points, count)| {
            let shape = self.shape(points);
            let bands = u64::from(self.own_sets().div_ceil(shape.band));
            PassTotals {
                chunks: all.chunks + count,
                matrices: all.matrices + count * bands,
                waits: all.waits + count * bands * (matrix + round * u64::from(shape.levels)),
                // A device may have no windows.
                again: all.again + count * bands.saturating_sub(1) * points as u64,
            }
        })
    }

    /// Returns how a chunk of `points` points runs. A chunk half as long has shorter rows and takes one round less. It
    /// has as few bands as the memory of the whole chunks allows.
    pub(super) fn shape(&self, points: usize) -> ChunkShape {
        let whole = ChunkShape { band: self.band, levels: self.levels };
        if points >= self.chunk || self.joined() > 1 {
            return whole;
        }
        let levels = self.levels.saturating_sub((self.chunk / points.max(1)).ilog2());
        if self.band == self.own_sets() {
            return ChunkShape { levels, ..whole };
        }
        let buffer_sizes = BufferSizes::from_matrix_sizes(&self.widest_cut(self.chunk, whole));
        let fits = |band: u32| {
            let cut = self.widest_cut(points, ChunkShape { band, levels });
            band <= self.band || (buffer_sizes.has_slots_for(&cut) && u64::from(cut.bins) <= MAX_BINS)
        };
        let bands = self.own_sets().div_ceil(largest_below(self.own_sets() + 1, fits));
        ChunkShape { band: self.own_sets().div_ceil(bands), levels }
    }

    /// Returns the consecutive bands of sets of a chunk of `points` points.
    pub fn bands(&self, points: usize) -> impl Iterator<Item = WindowRange> + use<> {
        let (sets, band) = (self.first_set..self.end_set, self.shape(points).band);
        sets.clone().step_by(band as usize).map(move |from| WindowRange { from, to: sets.end.min(from + band) })
    }

    /// Returns the maximum sizes of the matrix of a chunk of `points` points. It has a full band of the first sets,
    /// among which as many are wide as possible.
    fn widest_cut(&self, points: usize, ChunkShape { band, levels }: ChunkShape) -> MatrixSizes {
        self.cut_in(points.min(self.problem.points), WindowRange { from: 0, to: band }, levels)
    }

    /// Returns the sizes that memory is allocated by.
    pub fn buffer_sizes(&self) -> BufferSizes {
        let whole = BufferSizes::from_matrix_sizes(
            &self.widest_cut(self.chunk, ChunkShape { band: self.band, levels: self.levels }),
        );
        let cuts = self.lengths().map(|(points, _)| self.widest_cut(points, self.shape(points)));
        cuts.fold(whole, |room, cut| room.max(BufferSizes::from_matrix_sizes(&cut)))
    }

    /// Returns how `band` of a chunk of `points` points is cut.
    pub fn cut(&self, points: usize, band: WindowRange) -> MatrixSizes {
        self.cut_in(points, band, self.shape(points).levels)
    }

    fn cut_in(&self, points: usize, band: WindowRange, levels: u32) -> MatrixSizes {
        let (sets, copies) = (band.to - band.from, self.copies());
        let points = points as u32;
        // Twice the mean length in the largest chunk, so that rows of random scalars are one piece each.
        let mean = self.mean_row().div_ceil(1 << self.levels);
        let piece = (2 * mean).next_power_of_two().clamp(16, u64::from(MAX_PIECE)) as u32;
        // If other multiplications run beside this one, it takes half of the device's registers. A round's inversions,
        // and the others' work between their rounds, then hide behind the other half's additions. Joined vectors have
        // less to hide than that costs.
        let beside = if self.joined() == 1 && self.runs_beside_others() { 2 } else { 1 };
        let affine_groups = AFFINE_GROUPS / beside * self.problem.compute_units;
        let affine_tile = self.affine_tile;
        let vectors = self.joined();
        let buckets = vectors * (self.first_row(band.to) - self.first_row(band.from));
        let rows = self.rows_per_bucket() * buckets;
        let (bins, affine_bytes) = (rows >> self.low_bit_count(), self.problem.affine_bytes);
        MatrixSizes {
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
}
