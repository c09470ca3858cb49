//! A plan's choices, and the sizes that follow directly from them.

use super::plan_input::PlanInput;
use crate::kernels::msm::WINDOW_BINS;

/// Limits the number of bins (ranges of rows) of a window, as a binary logarithm.
const MAX_BIN_BITS: u32 = WINDOW_BINS.ilog2();
/// Minimum number of rows of a bin, as a binary logarithm, 7. Each bin then has runs of entries worth a counting sort.
const MIN_LOW_BITS: u32 = 7;

/// Describes how a multiplication is divided into windows of bits, bands of windows and chunks of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MsmPlan {
    pub(super) problem: PlanInput,
    /// Maximum points of a chunk.
    pub chunk: usize,
    /// Bits of the widest windows, those of `wide_windows` sets; the windows of the others have one less.
    pub c: u32,
    /// Number of sets whose windows have `c` bits. They are spread evenly among all sets, so that groups of sets cost
    /// the same; the first set is one of them.
    pub wide_windows: u32,
    /// Whether GLV is used: windows are those of half-length scalars, and a bucket has a row for each half.
    pub glv: bool,
    /// Windows of a scalar, or of a half-length one if GLV is used.
    pub windows: u32,
    /// Sets of windows: those of a set share buckets, through precomputed multiples of the bases. Without these each
    /// window is a set of its own.
    pub sets: u32,
    /// First set that the device computes.
    pub first_set: u32,
    /// One past the last set that the device computes.
    pub end_set: u32,
    /// First point that the device handles in its first set; another device handles the previous ones.
    pub(super) skip: usize,
    /// One past the last point that the device handles in its last set; another device handles the next ones.
    pub(super) until: usize,
    /// Number of sets whose matrix is built and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions before the rest is added in XYZZ.
    pub levels: u32,
    /// Maximum pairs for which a workgroup makes one inversion in those rounds.
    pub(super) affine_tile: u32,
    /// Consecutive buckets that one work-item, or four, reduce together; half as many in windows of `c` − 1 bits.
    pub segment: u32,
    /// Whether four work-items reduce a segment of buckets, not one.
    pub quads: bool,
}

impl MsmPlan {
    /// Returns whether other multiplications are known to run on the device at the same time.
    pub(crate) fn runs_beside_others(&self) -> bool {
        self.problem.at_once.max(self.problem.lanes) > 1
    }

    /// Returns the number of scalar vectors of one matrix.
    pub(crate) fn vectors_per_matrix(&self) -> u32 {
        self.problem.joined
    }

    /// Returns the number of streams that compute the matrices in turns.
    pub(crate) fn lanes(&self) -> u32 {
        self.problem.lanes
    }

    /// Returns the mean number of entries of a row of a full-length chunk, for random scalars of full length. Rows are
    /// those of the narrowest windows, where they are longest.
    pub(crate) fn mean_row(&self) -> u64 {
        let copies = u64::from(self.scalar_digits_per_window_set());
        let narrowest = if self.wide_windows < self.sets { self.c - 1 } else { self.c };
        self.chunk.min(self.problem.points) as u64 * copies / (1 << (narrowest - 1))
    }

    /// Returns the number of digits of a scalar that share a set's buckets. It is one per copy of the base, times two
    /// for the halves if GLV is used.
    pub(crate) fn scalar_digits_per_window_set(&self) -> u32 {
        self.windows.div_ceil(self.sets) * self.rows_per_bucket()
    }

    /// Returns the maximum bits of a half-length scalar (GLV).
    pub(crate) fn half_bits(&self) -> u32 {
        self.problem.half_bits
    }

    /// Returns the number of rows of a bucket: two if GLV is used, else one.
    pub(crate) fn rows_per_bucket(&self) -> u32 {
        if self.glv { 2 } else { 1 }
    }

    /// Returns the number of bits that entries are sorted by: those of a wide window, and one for the scalar's half if
    /// GLV is used.
    pub(crate) fn sort_key_bits(&self) -> u32 {
        self.c + u32::from(self.glv)
    }

    /// Returns the number of low bits of a row's index, by which entries are sorted within a bin.
    pub(crate) fn low_bit_count(&self) -> u32 {
        compute_low_bit_count(self.sort_key_bits())
    }
}

/// Returns the number of low bits of a row's index if windows have `c` and `c` − 1 bits. With it each window starts
/// with a bin.
fn compute_low_bit_count(c: u32) -> u32 {
    (c - 1).saturating_sub(MAX_BIN_BITS).max(MIN_LOW_BITS).min(c - 2)
}
