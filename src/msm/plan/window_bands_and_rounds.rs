//! Chooses the bands and rounds of a chunk, and how the matrix of each band is cut.

use super::chunk_lengths::largest_below;
use super::cost_constants::{CostConstants, FIRST_MATRIX, GLV_MATRIX, MATRIX};
use super::matrix_and_buffer_sizes::{BufferSizes, MatrixSizes, WindowRange};
use super::msm_plan::MsmPlan;
use crate::kernels::field_sources::INVERSE_GROUPS_PER_UNIT;
use crate::kernels::msm::{BAND_BINS, BINS};

/// Maximum entries of a piece of a matrix row: kernels sort pieces by length into [`BINS`] bins.
pub(super) const MAX_PIECE: u32 = BINS;
/// Maximum bins (ranges of rows) of a matrix: kernels count the entries of each bin in local memory.
pub(super) const MAX_BINS: u64 = BAND_BINS as u64;

/// Holds the choices for chunks of one length. `band` is the number of sets of windows per matrix. `levels` is the
/// number of rounds of batched affine additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChunkShape {
    pub band: u32,
    pub levels: u32,
}

/// Holds totals over all chunks of points:
/// - `chunks`: number of chunks;
/// - `matrices`: number of matrices, one per chunk and band;
/// - `waits`: fixed time of all matrices and rounds by the model, in ps;
/// - `again`: number of scalars that are read again, by every band of a chunk but the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PassTotals {
    pub chunks: u64,
    pub matrices: u64,
    pub waits: u64,
    pub again: u64,
}

impl MsmPlan {
    /// Returns the number of chunks, matrices and repeated scalar reads of the whole multiplication, and its fixed
    /// time.
    pub(super) fn pass_totals(&self) -> PassTotals {
        let round = CostConstants::for_affine_bytes(self.problem.affine_bytes).round;
        let matrix = if self.glv { MATRIX + GLV_MATRIX } else { MATRIX };
        // The first matrix takes this beside the cost of every matrix.
        let first = PassTotals { waits: FIRST_MATRIX - matrix, ..PassTotals::default() };
        self.chunk_lengths().fold(first, |all, (points, count)| {
            let shape = self.chunk_shape(points);
            let bands = u64::from(self.own_set_count().div_ceil(shape.band));
            PassTotals {
                chunks: all.chunks + count,
                matrices: all.matrices + count * bands,
                waits: all.waits + count * bands * (matrix + round * u64::from(shape.levels)),
                // A device may have no windows.
                again: all.again + count * bands.saturating_sub(1) * points as u64,
            }
        })
    }

    /// Returns the band (number of sets of windows per matrix) and the affine rounds of a chunk of `points` points. A
    /// chunk of half the full length has shorter rows and takes one round less. It has as few bands as fit into the
    /// memory for full-length chunks.
    pub(super) fn chunk_shape(&self, points: usize) -> ChunkShape {
        let whole = ChunkShape { band: self.band, levels: self.levels };
        if points >= self.chunk || self.vectors_per_matrix() > 1 {
            return whole;
        }
        let levels = self.levels.saturating_sub((self.chunk / points.max(1)).ilog2());
        if self.band == self.own_set_count() {
            return ChunkShape { levels, ..whole };
        }
        let buffer_sizes = BufferSizes::from_matrix_sizes(&self.max_matrix_sizes(self.chunk, whole));
        let fits = |band: u32| {
            let cut = self.max_matrix_sizes(points, ChunkShape { band, levels });
            band <= self.band || (buffer_sizes.has_slots_for(&cut) && u64::from(cut.bins) <= MAX_BINS)
        };
        let bands = self.own_set_count().div_ceil(largest_below(self.own_set_count() + 1, fits));
        ChunkShape { band: self.own_set_count().div_ceil(bands), levels }
    }

    /// Returns the bands (consecutive ranges of sets) of a chunk of `points` points, in ascending order.
    pub(crate) fn bands(&self, points: usize) -> impl Iterator<Item = WindowRange> + use<> {
        let (sets, band) = (self.first_set..self.end_set, self.chunk_shape(points).band);
        sets.clone().step_by(band as usize).map(move |from| WindowRange { from, to: sets.end.min(from + band) })
    }

    /// Returns the sizes of the largest matrix of a chunk of `points` points. The matrix has `band` sets of windows,
    /// the first ones, among which as many are wide as possible.
    fn max_matrix_sizes(&self, points: usize, ChunkShape { band, levels }: ChunkShape) -> MatrixSizes {
        self.compute_matrix_sizes(points.min(self.problem.points), WindowRange { from: 0, to: band }, levels)
    }

    /// Returns the lengths that buffers are allocated with. They suffice for every chunk of points and every band of
    /// windows.
    pub(crate) fn buffer_sizes(&self) -> BufferSizes {
        let whole = BufferSizes::from_matrix_sizes(
            &self.max_matrix_sizes(self.chunk, ChunkShape { band: self.band, levels: self.levels }),
        );
        let cuts = self.chunk_lengths().map(|(points, _)| self.max_matrix_sizes(points, self.chunk_shape(points)));
        cuts.fold(whole, |room, cut| room.max(BufferSizes::from_matrix_sizes(&cut)))
    }

    /// Returns the sizes of the matrix of `band`, a range of sets of windows, for a chunk of `points` points.
    pub(crate) fn matrix_sizes(&self, points: usize, band: WindowRange) -> MatrixSizes {
        self.compute_matrix_sizes(points, band, self.chunk_shape(points).levels)
    }

    fn compute_matrix_sizes(&self, points: usize, band: WindowRange, levels: u32) -> MatrixSizes {
        let (sets, copies) = (band.to - band.from, self.scalar_digits_per_window_set());
        let points = points as u32;
        // Twice the mean length in the largest chunk, so that rows of random scalars are one piece each.
        let mean = self.mean_row().div_ceil(1 << self.levels);
        let piece = (2 * mean).next_power_of_two().clamp(16, u64::from(MAX_PIECE)) as u32;
        // If other multiplications run beside this one, it takes half of the device's registers. A round's inversions,
        // and the others' work between their rounds, then hide behind the other half's additions. Joined vectors have
        // less to hide than that costs.
        let beside = if self.vectors_per_matrix() == 1 && self.runs_beside_others() { 2 } else { 1 };
        let affine_groups = INVERSE_GROUPS_PER_UNIT / beside * self.problem.compute_units;
        let affine_tile = self.affine_tile;
        let vectors = self.vectors_per_matrix();
        let buckets = vectors * (self.global_first_bucket(band.to) - self.global_first_bucket(band.from));
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
