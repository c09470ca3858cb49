//! A plan's choices, and what follows from them at once.

use super::problem::Problem;

/// Binary logarithms of the bins of a window at most, and of the rows of a bin at least (`cl/msm_digits.cl`).
const MAX_BIN_BITS: u32 = 8;
const MIN_LOW_BITS: u32 = 7;

/// How a problem is cut into windows, bands and chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(super) problem: Problem,
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
    pub(super) skip: usize,
    pub(super) until: usize,
    /// Sets whose matrix is made and multiplied at a time.
    pub band: u32,
    /// Rounds of batched affine additions before the rest is added in XYZZ.
    pub levels: u32,
    /// Most pairs for an inversion in those.
    pub(super) affine_tile: u32,
    /// Buckets of a segment in the reduction; half as many in narrow windows.
    pub segment: u32,
    /// Four work-items reduce a segment, not one.
    pub quads: bool,
}

impl Plan {
    /// Whether other multiplications run on the device at the same time, as far as it is known.
    pub fn runs_beside_others(&self) -> bool {
        self.problem.at_once.max(self.problem.lanes) > 1
    }

    /// Vectors of one matrix.
    pub fn joined(&self) -> u32 {
        self.problem.joined
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
}

/// Low bits of a row's number in windows of c bits and c − 1, all of which start with a bin.
fn low_bits(c: u32) -> u32 {
    (c - 1).saturating_sub(MAX_BIN_BITS).max(MIN_LOW_BITS).min(c - 2)
}
