//! A plan's choices, and the sizes that follow directly from them.

use super::plan_input::PlanInput;

/// Limits, as binary logarithms: maximum bins of a window, and minimum rows of a bin (`cl/msm_digits.cl`).
const MAX_BIN_BITS: u32 = 8;
const MIN_LOW_BITS: u32 = 7;

/// Describes how a problem is divided into windows, bands and chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MsmPlan {
    pub(super) problem: PlanInput,
    /// Maximum points of a chunk.
    pub chunk: usize,
    /// Bits of the windows of `wide_windows` sets; those of the others have one less. Wide sets are spread evenly, so that
    /// groups of sets cost the same; the first set is wide.
    pub c: u32,
    pub wide_windows: u32,
    /// Whether GLV is used: windows are those of half-length scalars, and a bucket has a row for each half.
    pub glv: bool,
    /// Digits of a scalar, or of a half-length one if GLV is used.
    pub windows: u32,
    /// Windows with buckets of their own; the others share them, with precomputed multiples of the bases.
    pub sets: u32,
    /// The device's sets are `first_set` to `end_set` − 1.
    pub first_set: u32,
    pub end_set: u32,
    /// Of the first of these sets, only the points from `skip` on; of the last, only those before `until`.
    pub(super) skip: usize,
    pub(super) until: usize,
    /// Sets whose matrix is built and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions before the rest is added in XYZZ.
    pub levels: u32,
    /// Maximum pairs for an inversion in those rounds.
    pub(super) affine_tile: u32,
    /// Buckets of a segment in the reduction; half as many in narrow windows.
    pub segment: u32,
    /// Whether four work-items reduce a segment, not one.
    pub quads: bool,
}

impl MsmPlan {
    /// Returns whether other multiplications are known to run on the device at the same time.
    pub fn runs_beside_others(&self) -> bool {
        self.problem.at_once.max(self.problem.lanes) > 1
    }

    /// Returns the number of vectors of one matrix.
    pub fn joined(&self) -> u32 {
        self.problem.joined
    }

    /// Returns the mean number of entries of a row in the narrowest windows, where rows are longest, for scalars of
    /// full length.
    pub fn mean_row(&self) -> u64 {
        let copies = u64::from(self.copies());
        let narrowest = if self.wide_windows < self.sets { self.c - 1 } else { self.c };
        self.chunk.min(self.problem.points) as u64 * copies / (1 << (narrowest - 1))
    }

    /// Returns the number of copies of each base that there are windows for, or of halves of its scalar if GLV is used.
    pub fn copies(&self) -> u32 {
        self.windows.div_ceil(self.sets) * self.rows_per_bucket()
    }

    /// Returns the bits of a half-length scalar (GLV).
    pub fn half_bits(&self) -> u32 {
        self.problem.half_bits
    }

    /// Returns the number of rows of a bucket: two if GLV is used, else one.
    pub fn rows_per_bucket(&self) -> u32 {
        if self.glv { 2 } else { 1 }
    }

    /// Returns the bits of a digit that entries are sorted by: those of a wide window, and one for the half if GLV is
    /// used.
    pub fn sorted_bits(&self) -> u32 {
        self.c + u32::from(self.glv)
    }

    /// Returns the number of low bits of a row's number, by which entries are sorted within a bin.
    pub fn low_bit_count(&self) -> u32 {
        low_bits(self.sorted_bits())
    }
}

/// Returns the number of low bits of a row's number in windows of `c` and `c` − 1 bits, which all start with a bin.
fn low_bits(c: u32) -> u32 {
    (c - 1).saturating_sub(MAX_BIN_BITS).max(MIN_LOW_BITS).min(c - 2)
}
