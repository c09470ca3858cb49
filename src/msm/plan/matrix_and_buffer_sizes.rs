//! Computes how the matrix of a chunk in a band of windows is cut, and its memory: sizes only.

use crate::kernels::msm::{AFFINE_GROUP, MERGE, Piece};

/// Minimum pairs of points for which a workgroup's field inversion pays off.
const MIN_TILE: u64 = 256;

/// Selects the sets `from` to `to` − 1. A set is the windows that share buckets: a single one, or several with
/// precomputed multiples of the bases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowRange {
    pub from: u32,
    pub to: u32,
}

/// Holds the sizes of the sparse matrix of one chunk of points in one band (consecutive sets of windows). The matrix
/// has a row per bucket, cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatrixSizes {
    pub points: u32,
    /// Scalar vectors of the matrix: rows and bins of one follow those of the previous one.
    pub vectors: u32,
    pub sets: u32,
    /// Copies of each base, or halves of each scalar (GLV).
    pub copies: u32,
    pub buckets: u32,
    /// Rows of the matrix: one per bucket, or two if GLV is used.
    pub rows: u32,
    /// Bins (ranges of rows) that entries are sorted into before they are sorted into rows.
    pub bins: u32,
    /// Rounds of batched affine additions.
    pub levels: u32,
    /// Maximum workgroups of a round of batched affine additions.
    pub affine_groups: u32,
    /// Maximum pairs for which such a workgroup makes one inversion, after the first round.
    pub affine_tile: u32,
    pub affine_bytes: u64,
    /// Maximum entries of a piece of a row, which one work-item sums.
    pub piece: u32,
}

impl MatrixSizes {
    /// Returns the maximum number of nonzero entries of the matrix: one per point, vector and window.
    pub(crate) fn entries(&self) -> u64 {
        u64::from(self.points) * u64::from(self.vectors) * u64::from(self.windows_per_vector())
    }

    /// Returns the number of digits of a scalar in the band: sets times copies.
    pub(crate) fn windows_per_vector(&self) -> u32 {
        self.sets * self.copies
    }

    /// Returns the maximum number of slots (places for entries) after `level` rounds of batched affine additions. Rows
    /// are padded for the rounds, each by at most 2^levels − 1 slots. A nonempty row has an entry, so no more rows are
    /// padded than there are entries.
    pub(crate) fn slots(&self, level: u32) -> u64 {
        let padding = u64::from(self.rows).min(self.entries()) * ((1 << self.levels) - 1);
        (self.entries() + padding) >> level
    }

    /// Returns the maximum number of pairs of entries that a round of batched affine additions adds.
    pub(crate) fn max_additions(&self) -> u64 {
        self.entries() / 2
    }

    /// Returns the maximum number of points that the first round of batched affine additions leaves: half of every
    /// row's entries, rounded up. Returns 0 without rounds.
    pub(crate) fn max_affine_sums(&self) -> u64 {
        let odd = u64::from(self.rows).min(self.entries());
        if self.levels == 0 { 0 } else { self.entries().midpoint(odd) }
    }

    /// Returns the number of workgroups of a round of batched affine additions: at most one per `MIN_TILE` pairs, and
    /// at least one.
    pub(crate) fn affine_groups(&self) -> u64 {
        self.max_additions().div_ceil(MIN_TILE).clamp(1, u64::from(self.affine_groups.max(1)))
    }

    /// Returns the maximum number of pairs whose prefix products a workgroup stores in a separate buffer, a multiple of
    /// `AFFINE_GROUP`. It is that of the second round: the first one stores its prefix products in place of the sums.
    /// Returns 0 with fewer than two rounds.
    pub(crate) fn affine_tile_pairs(&self) -> u64 {
        let share = (self.max_affine_sums() / 2).div_ceil(self.affine_groups());
        if self.levels < 2 { 0 } else { share.min(self.affine_tile.into()).next_multiple_of(AFFINE_GROUP.into()) }
    }

    /// Returns the bytes of the first of a band's two large buffers. It first holds the entries in their bins (6 bytes
    /// each), then the sums of the rounds of batched affine additions.
    pub(crate) fn entries_or_sums_bytes(&self) -> u64 {
        (self.affine_bytes * self.max_affine_sums()).max(6 * self.entries())
    }

    /// Returns the bytes of the second of a band's two large buffers. It first holds the digits (4 bytes each), then
    /// the prefix products of the rounds, then the sums of pieces of rows.
    pub(crate) fn digits_or_prefix_bytes(&self) -> u64 {
        let prefixes = self.affine_bytes / 2 * self.affine_groups() * self.affine_tile_pairs();
        let pieces = 2 * self.affine_bytes * self.partial_sums();
        prefixes.max(pieces).max(4 * self.entries())
    }

    /// Returns the maximum number of points in the buffer of the pieces' sums, `partial_index` of
    /// `cl/msm_accumulate.cl`.
    fn partial_sums(&self) -> u64 {
        2 * (self.slots(self.levels) / u64::from(self.piece) + 1)
    }

    /// Returns the maximum number of pieces that rows are cut into: one per nonempty bucket, and one more per full
    /// piece of `piece` entries.
    pub(crate) fn pieces(&self) -> u64 {
        u64::from(self.buckets).min(self.entries()) + self.slots(self.levels) / u64::from(self.piece)
    }

    /// Returns the maximum number of runs, each up to `MERGE` pieces of a row that one workgroup merges. There is one
    /// per row of several pieces, each of which has a full piece, and one more per full run.
    pub(crate) fn max_merge_runs(&self) -> u64 {
        self.slots(self.levels) / u64::from(self.piece) + self.pieces() / u64::from(MERGE) + 1
    }

    /// Returns the maximum number of rows whose pieces form several runs ([`Self::max_merge_runs`]).
    pub(crate) fn long_rows(&self) -> u64 {
        self.pieces() / u64::from(MERGE) + 1
    }
}

/// Holds the lengths of a band's buffers, in elements unless the name says bytes. They suffice for every chunk and
/// band, so that each reuses the memory of the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferSizes {
    pub entries: u64,
    /// Slots before the first round of batched affine additions, and after it; the latter is 0 without rounds.
    pub slots: [u64; 2],
    pub pairs: u64,
    pub sums: u64,
    pub rows: u64,
    pub bins: u64,
    pub pieces: u64,
    pub units: u64,
    pub long_rows: u64,
    pub entries_or_sums_bytes: u64,
    pub digits_or_prefix_bytes: u64,
}

impl BufferSizes {
    /// Returns the lengths of the buffers for a matrix of sizes `cut`.
    pub(crate) fn from_matrix_sizes(cut: &MatrixSizes) -> Self {
        let rounds = cut.levels > 0;
        Self {
            entries: cut.entries(),
            slots: [cut.slots(0), if rounds { cut.slots(1) } else { 0 }],
            pairs: if rounds { cut.max_additions() } else { 0 },
            sums: cut.max_affine_sums(),
            rows: cut.rows.into(),
            bins: cut.bins.into(),
            pieces: cut.pieces(),
            units: cut.max_merge_runs(),
            long_rows: cut.long_rows(),
            entries_or_sums_bytes: cut.entries_or_sums_bytes(),
            digits_or_prefix_bytes: cut.digits_or_prefix_bytes(),
        }
    }

    /// Returns whether all buffers whose lengths grow with entries or slots are large enough for `cut`.
    pub(crate) fn has_slots_for(&self, cut: &MatrixSizes) -> bool {
        let other = Self::from_matrix_sizes(cut);
        let sizes = |room: &Self| {
            [room.slots[0], room.slots[1], room.pairs, room.entries_or_sums_bytes, room.digits_or_prefix_bytes]
        };
        sizes(self).iter().zip(sizes(&other)).all(|(own, other)| *own >= other)
    }

    /// Returns the larger length of each buffer of `self` and `other`.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            entries: self.entries.max(other.entries),
            slots: [0, 1].map(|level| self.slots[level].max(other.slots[level])),
            pairs: self.pairs.max(other.pairs),
            sums: self.sums.max(other.sums),
            rows: self.rows.max(other.rows),
            bins: self.bins.max(other.bins),
            pieces: self.pieces.max(other.pieces),
            units: self.units.max(other.units),
            long_rows: self.long_rows.max(other.long_rows),
            entries_or_sums_bytes: self.entries_or_sums_bytes.max(other.entries_or_sums_bytes),
            digits_or_prefix_bytes: self.digits_or_prefix_bytes.max(other.digits_or_prefix_bytes),
        }
    }

    /// Returns the bytes of all these buffers together.
    pub(crate) fn bytes(&self) -> u64 {
        // A row has a counter, a first slot and a first piece; a piece has its row and its description.
        let words = self.slots[0] + self.slots[1] + self.pairs + 3 * self.rows + self.pieces;
        let pieces = size_of::<Piece>() as u64 * self.pieces;
        self.entries_or_sums_bytes + self.digits_or_prefix_bytes + pieces + 4 * (words + self.units + self.long_rows)
    }
}
