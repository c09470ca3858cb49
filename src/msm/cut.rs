//! How the matrix of a chunk in a band of windows is cut, and what it takes: sizes only.

/// Pieces merged by one group, `MERGE` of `cl/msm_rows.cl`.
const MERGE: u64 = 64;
/// Pairs of a tile of `msm_add_pairs` (`cl/msm_affine.cl`), and work-items of a group there.
const AFFINE_TILE: u64 = 4096;
const AFFINE_STEP: u64 = 32;
/// Pairs that pay for a group's inversion.
const MIN_TILE: u64 = 256;

/// Sets `from` to `to` − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Band {
    pub from: u32,
    pub to: u32,
}

/// How the rows of the matrix of one chunk and band are laid out and cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub points: u32,
    /// Vectors that the matrix is of: rows and bins of one follow those of the other.
    pub vectors: u32,
    pub sets: u32,
    pub copies: u32,
    pub rows: u32,
    /// Bins that entries are sorted into first.
    pub bins: u32,
    pub levels: u32,
    /// Most groups of a round of batched affine additions.
    pub affine_groups: u32,
    pub affine_bytes: u64,
    /// Longest piece of a row that one work-item sums.
    pub piece: u32,
}

impl Cut {
    /// At most this many entries that are not zero.
    pub fn entries(&self) -> u64 {
        u64::from(self.points) * u64::from(self.vectors) * u64::from(self.places())
    }

    /// Windows of the band in a vector, those of all copies.
    pub fn places(&self) -> u32 {
        self.sets * self.copies
    }

    /// At most this many slots of a level, rows being padded for the rounds of halving. A row that holds
    /// anything has an entry, so padding adds no more than one row's worth for each of them.
    pub fn slots(&self, level: u32) -> u64 {
        let padding = u64::from(self.rows).min(self.entries()) * ((1 << self.levels) - 1);
        (self.entries() + padding) >> level
    }

    /// Groups of a round of batched affine additions: no more than have an inversion's worth of pairs.
    pub fn affine_groups(&self) -> u64 {
        self.slots(1).div_ceil(MIN_TILE).min(u64::from(self.affine_groups))
    }

    /// Prefix products of those groups in a round: each has as many as pairs in its largest tile, in whole steps.
    pub fn prefixes(&self, round: u32) -> u64 {
        let share = self.slots(round + 1).div_ceil(self.affine_groups().max(1));
        self.affine_groups() * share.next_multiple_of(AFFINE_STEP).min(AFFINE_TILE)
    }

    /// Bytes of the prefix products of all rounds but the first, which has them in the buffer that it leaves empty.
    pub fn prefix_bytes(&self) -> u64 {
        if self.levels == 0 { 0 } else { self.affine_bytes / 2 * self.prefixes(1) }
    }

    /// Bytes of the two large buffers of a band. First they hold the entries on their way to their rows (6 bytes each)
    /// and the digits (4 bytes), then what the rounds of halving leave, which they do in turns; the second one the first
    /// round's prefix products before.
    pub fn first_bytes(&self) -> u64 {
        let halved = if self.levels == 0 { 0 } else { self.affine_bytes * self.slots(1) };
        halved.max(6 * self.entries())
    }

    /// See [`Self::first_bytes`].
    pub fn second_bytes(&self) -> u64 {
        if self.levels == 0 {
            return 4 * self.entries();
        }
        (self.affine_bytes * self.slots(2)).max(self.affine_bytes / 2 * self.prefixes(0)).max(4 * self.entries())
    }

    /// Bytes that say which slots are live: those of a round, and of the next.
    pub fn live_bytes(&self) -> u64 {
        self.slots(1) + self.slots(2)
    }

    /// Bytes of that one of them which is free when pieces are summed.
    pub fn spare_bytes(&self) -> u64 {
        if self.levels.is_multiple_of(2) { self.first_bytes() } else { self.second_bytes() }
    }

    /// Bytes of the pieces' sums, or of the buffer which is free then and holds them.
    pub fn partial_bytes(&self) -> u64 {
        (2 * self.affine_bytes * self.pieces()).max(self.spare_bytes())
    }

    /// At most this many pieces: one for every row that is not empty, and one more per full piece.
    pub fn pieces(&self) -> u64 {
        u64::from(self.rows).min(self.entries()) + self.slots(self.levels) / u64::from(self.piece)
    }

    /// At most this many runs of pieces to be merged: one for every row of several pieces, each of which
    /// has a full one, and one more per full run.
    pub fn units(&self) -> u64 {
        self.slots(self.levels) / u64::from(self.piece) + self.pieces() / MERGE + 1
    }

    /// At most this many rows of several runs.
    pub fn long_rows(&self) -> u64 {
        self.pieces() / MERGE + 1
    }
}
