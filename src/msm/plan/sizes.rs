//! Computes how the matrix of a chunk in a band of windows is cut, and its memory: sizes only.

/// Pieces merged by one group, `MERGE` of `cl/msm_accumulate.cl`.
const MERGE: u64 = 64;
/// Work-items of a group of `msm_batch_affine_add` (`cl/msm_batch_affine.cl`).
const AFFINE_STEP: u64 = 32;
/// Minimum pairs that pay for a group's inversion.
const MIN_TILE: u64 = 256;

/// Selects sets `from` to `to` − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowRange {
    pub from: u32,
    pub to: u32,
}

/// Describes how the rows of the matrix of one chunk and band are laid out and cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatrixSizes {
    pub points: u32,
    /// Vectors of the matrix: rows and bins of one follow those of the previous one.
    pub vectors: u32,
    pub sets: u32,
    /// Copies of the bases, or halves of scalars (GLV).
    pub copies: u32,
    pub buckets: u32,
    /// As many as buckets, or two for each if GLV is used.
    pub rows: u32,
    /// Bins that entries are sorted into first.
    pub bins: u32,
    pub levels: u32,
    /// Maximum groups of a round of batched affine additions.
    pub affine_groups: u32,
    /// Maximum pairs for which such a group makes one inversion, after the first round.
    pub affine_tile: u32,
    pub affine_bytes: u64,
    /// Longest piece of a row that one work-item sums.
    pub piece: u32,
}

impl MatrixSizes {
    /// Returns the maximum number of nonzero entries.
    pub fn entries(&self) -> u64 {
        u64::from(self.points) * u64::from(self.vectors) * u64::from(self.windows_per_vector())
    }

    /// Returns the number of windows of the band in a vector, those of all copies.
    pub fn windows_per_vector(&self) -> u32 {
        self.sets * self.copies
    }

    /// Returns the maximum number of slots of `level`. Rows are padded for the rounds of batched affine additions, each
    /// by at most 2^levels − 1 slots. A nonempty row has an entry, so no more rows are padded than there are entries.
    pub fn slots(&self, level: u32) -> u64 {
        let padding = u64::from(self.rows).min(self.entries()) * ((1 << self.levels) - 1);
        (self.entries() + padding) >> level
    }

    /// Returns the maximum number of pairs of two entries in a row; no round has more.
    pub fn max_additions(&self) -> u64 {
        self.entries() / 2
    }

    /// Returns the maximum number of sums and lone bases that the first round leaves: half of every row, rounded up.
    pub fn sums(&self) -> u64 {
        let odd = u64::from(self.rows).min(self.entries());
        if self.levels == 0 { 0 } else { self.entries().midpoint(odd) }
    }

    /// Returns the number of groups of a round of batched affine additions: no more than have an inversion's worth of
    /// pairs.
    pub fn affine_groups(&self) -> u64 {
        self.max_additions().div_ceil(MIN_TILE).clamp(1, u64::from(self.affine_groups.max(1)))
    }

    /// Returns the number of pairs of the largest tile whose prefix products such a group keeps, in whole steps. It is
    /// a tile of the second round: prefix products of the first round are stored in place of the sums.
    pub fn tile(&self) -> u64 {
        let share = (self.sums() / 2).div_ceil(self.affine_groups());
        if self.levels < 2 { 0 } else { share.min(self.affine_tile.into()).next_multiple_of(AFFINE_STEP) }
    }

    /// Returns the bytes of the first of a band's two large buffers. It holds the entries in their bins (6 bytes each),
    /// then the sums of the rounds of batched affine additions.
    pub fn entries_or_sums_bytes(&self) -> u64 {
        (self.affine_bytes * self.sums()).max(6 * self.entries())
    }

    /// Returns the bytes of the second, which holds the digits (4 bytes each), then the rounds' prefix products, then
    /// the pieces' sums.
    pub fn digits_or_prefix_bytes(&self) -> u64 {
        let prefixes = self.affine_bytes / 2 * self.affine_groups() * self.tile();
        let pieces = 2 * self.affine_bytes * self.partial_sums();
        prefixes.max(pieces).max(4 * self.entries())
    }

    /// Returns the maximum number of places of pieces' sums, `partial_index` of `cl/msm_accumulate.cl`.
    fn partial_sums(&self) -> u64 {
        2 * (self.slots(self.levels) / u64::from(self.piece) + 1)
    }

    /// Returns the maximum number of pieces: one for every bucket whose rows are not empty, and one more per full
    /// piece.
    pub fn pieces(&self) -> u64 {
        u64::from(self.buckets).min(self.entries()) + self.slots(self.levels) / u64::from(self.piece)
    }

    /// Returns the maximum number of runs of pieces to be merged: one for every row of several pieces, each of which
    /// has a full one, and one more per full run.
    pub fn units(&self) -> u64 {
        self.slots(self.levels) / u64::from(self.piece) + self.pieces() / MERGE + 1
    }

    /// Returns the maximum number of rows of several runs.
    pub fn long_rows(&self) -> u64 {
        self.pieces() / MERGE + 1
    }
}

/// Holds the sizes of a band's buffers that suffice for every chunk and band, so that each reuses the blocks of the
/// previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferSizes {
    pub entries: u64,
    /// Slots of the matrix, and of the level above.
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
    /// Returns the sizes for one `cut`.
    pub fn from_matrix_sizes(cut: &MatrixSizes) -> Self {
        let rounds = cut.levels > 0;
        Self {
            entries: cut.entries(),
            slots: [cut.slots(0), if rounds { cut.slots(1) } else { 0 }],
            pairs: if rounds { cut.max_additions() } else { 0 },
            sums: cut.sums(),
            rows: cut.rows.into(),
            bins: cut.bins.into(),
            pieces: cut.pieces(),
            units: cut.units(),
            long_rows: cut.long_rows(),
            entries_or_sums_bytes: cut.entries_or_sums_bytes(),
            digits_or_prefix_bytes: cut.digits_or_prefix_bytes(),
        }
    }

    /// Returns whether the buffers that grow with entries or slots are large enough for `cut`.
    pub fn has_slots_for(&self, cut: &MatrixSizes) -> bool {
        let other = Self::from_matrix_sizes(cut);
        let sizes = |room: &Self| {
            [room.slots[0], room.slots[1], room.pairs, room.entries_or_sums_bytes, room.digits_or_prefix_bytes]
        };
        sizes(self).iter().zip(sizes(&other)).all(|(own, other)| *own >= other)
    }

    /// Returns sizes that suffice for both.
    pub fn max(self, other: Self) -> Self {
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

    /// Returns the bytes of all these buffers.
    pub fn bytes(&self) -> u64 {
        // A row has a counter, a first slot and a first piece; a piece has its row and a description of three words.
        let words = self.slots[0] + self.slots[1] + self.pairs + 3 * self.rows + 4 * self.pieces;
        self.entries_or_sums_bytes + self.digits_or_prefix_bytes + 4 * (words + self.units + self.long_rows)
    }
}
