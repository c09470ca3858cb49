//! Accumulates buckets (step 2): queues the kernels that multiply the matrix of digits by the bases.

use super::digit_matrix::DigitMatrix;
use super::kernel_queue::KernelQueue;
use crate::Result;
use crate::backend::Buffer;
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::msm::{
    Accumulate, BatchAffineAdd, BuildChunks, CollectPairs, CollectParams, LIST_BLOCK, MergeChunks, MergeRows, Piece,
    RowsParams, SortChunks,
};
use crate::kernels::spec::Element;

/// Maximum workgroups that merge the sums of pieces of rows. They loop over the work, since only the device knows how
/// much there is to merge.
const MERGE_GROUPS: u64 = 2048;

/// Holds the points that the rounds of batched affine additions leave, and entries of rows that hold indices of these
/// points. `entries` is `None` if they are in the buffer of the matrix's entries.
struct AffineRoundSums {
    sums: Buffer,
    entries: Option<Buffer>,
}

/// Describes a round of batched affine additions, which adds pairs of slots (places for entries) of level `level`:
/// - `entries`: one entry for each slot of `level`, before the round;
/// - `above`: one entry for each slot of the next level, after the round;
/// - `bases`: the points whose indices the entries of level 0 hold;
/// - `sums`: the points whose indices the entries of higher levels hold;
/// - `list`: the pairs that the round adds.
struct AffineRound<'a> {
    level: u32,
    entries: &'a Buffer,
    above: &'a Buffer,
    bases: &'a Buffer,
    sums: &'a Buffer,
    list: &'a Buffer,
}

/// Holds the matrix's rows cut into pieces for balance: the row of each piece, and the pieces in order of their
/// lengths.
struct RowChunks {
    rows: Buffer,
    ordered: Buffer,
    /// Runs of consecutive pieces of a row; one workgroup merges the sums of a run.
    units: Buffer,
    /// Rows whose pieces form several runs, which are merged last.
    long_rows: Buffer,
}

impl KernelQueue<'_> {
    /// Accumulates buckets (step 2): queues kernels that add `matrix` times `bases` to `buckets`.
    pub(super) fn accumulate(&mut self, matrix: &DigitMatrix, bases: &Buffer, buckets: &Buffer) -> Result<()> {
        let halved = self.batched_affine_rounds(matrix, bases)?;
        let pieces = self.chunk_rows(matrix)?;
        let chunk_rows = matrix.chunk_rows;
        let partial = self.allocate_bytes(self.plan.buffer_sizes().digits_or_prefix_bytes)?;
        let (points, above) = halved.as_ref().map_or((bases, None), |halved| (&halved.sums, halved.entries.as_ref()));
        let entries = above.unwrap_or(&matrix.entries);
        let accumulate = Accumulate {
            rows: chunk_rows.buckets,
            limit: chunk_rows.piece,
            first_bucket: matrix.first_bucket,
            piece_offsets: In::new(&matrix.piece_offsets),
            pieces: In::new(&pieces.ordered),
            entries: In::new(entries),
            points: In::new(points),
            buckets: Out::new(buckets),
            partial: Out::new(&partial),
        };
        self.launch(chunk_rows.pieces(), accumulate)?;
        self.enqueue_piece_merge(matrix, &pieces, buckets, &partial)
    }

    /// Queues the kernels that merge the sums of `pieces` into `buckets`, for rows of several pieces.
    fn enqueue_piece_merge(
        &mut self,
        matrix: &DigitMatrix,
        pieces: &RowChunks,
        buckets: &Buffer,
        partial: &Buffer,
    ) -> Result<()> {
        let params = self.rows_params(matrix);
        let params = Value(&params);
        let (offsets, piece_offsets) = (In::new(&matrix.offsets), In::new(&matrix.piece_offsets));
        let (counters, buckets) = (In::new(&matrix.counters), Out::new(buckets));
        let (piece_rows, units, out) = (In::new(&pieces.rows), In::new(&pieces.units), Out::new(partial));
        let merge = MergeChunks { params, offsets, piece_offsets, piece_rows, counters, units, buckets, partial: out };
        self.launch_groups(matrix.chunk_rows.max_merge_runs().min(MERGE_GROUPS), merge)?;
        let (long_rows, partial) = (In::new(&pieces.long_rows), In::new(partial));
        let merge = MergeRows { params, offsets, piece_offsets, counters, long_rows, buckets, partial };
        self.launch_groups(matrix.chunk_rows.long_rows().min(MERGE_GROUPS), merge)
    }

    /// Returns the numbers that the kernels of the rows of `matrix` and their pieces take.
    fn rows_params(&self, matrix: &DigitMatrix) -> RowsParams {
        RowsParams {
            rows: matrix.chunk_rows.buckets,
            level: matrix.chunk_rows.levels,
            limit: matrix.chunk_rows.piece,
            halved: self.plan.glv.into(),
            first_bucket: matrix.first_bucket,
        }
    }

    /// Queues the rounds of batched affine additions. Returns the points that they leave of every row, or `None` if
    /// there are no rounds.
    fn batched_affine_rounds(&mut self, matrix: &DigitMatrix, bases: &Buffer) -> Result<Option<AffineRoundSums>> {
        let (levels, room) = (matrix.chunk_rows.levels, self.plan.buffer_sizes());
        if levels == 0 {
            return Ok(None);
        }
        let (above, list) = (self.allocate_array::<u32>(room.slots[1])?, self.allocate_array::<u32>(room.pairs)?);
        let (sums, prefixes) =
            (self.allocate_bytes(room.entries_or_sums_bytes)?, self.allocate_bytes(room.digits_or_prefix_bytes)?);
        // The levels use these two in turns.
        let entries = [&matrix.entries, &above];
        for level in 0..levels {
            let of = |level: u32| entries[level as usize % 2];
            let round =
                AffineRound { level, entries: of(level), above: of(level + 1), bases, sums: &sums, list: &list };
            self.enqueue_affine_round(matrix, round, &prefixes)?;
        }
        let entries = (levels % 2 == 1).then_some(above);
        Ok(Some(AffineRoundSums { sums, entries }))
    }

    /// Queues the kernels that list the pairs of `round` and add them.
    fn enqueue_affine_round(&mut self, matrix: &DigitMatrix, round: AffineRound<'_>, prefixes: &Buffer) -> Result<()> {
        let (cut, room) = (matrix.chunk_rows, self.plan.buffer_sizes());
        let AffineRound { level, entries, above, bases, sums, list } = round;
        let (pairs, above, store, counters) =
            (In::new(entries), Out::new(above), Out::new(sums), Out::new(&matrix.counters));
        let collect = CollectPairs {
            params: Value(&CollectParams { rows: cut.rows, level, room: room.sums as u32 }),
            offsets: In::new(&matrix.offsets),
            pairs,
            above,
            bases: In::new(bases),
            store,
            counters,
            list: Out::new(list),
        };
        self.launch_groups(cut.slots(level + 1).div_ceil(LIST_BLOCK.into()), collect)?;
        let add = BatchAffineAdd::<Element> {
            level,
            room: cut.affine_tile_pairs() as u32,
            pairs,
            above,
            points: In::new(if level == 0 { bases } else { sums }),
            store,
            counters,
            list: In::new(list),
            scratch: Out::new(prefixes),
        };
        self.launch_groups(cut.affine_groups(), add)
    }

    /// Queues the kernels that cut rows into pieces and order these by length.
    fn chunk_rows(&mut self, matrix: &DigitMatrix) -> Result<RowChunks> {
        let (cut, room) = (matrix.chunk_rows, self.plan.buffer_sizes());
        let params = self.rows_params(matrix);
        let params = Value(&params);
        let (rows, ordered) = (self.allocate_array::<u32>(room.pieces)?, self.allocate_array::<Piece>(room.pieces)?);
        let (units, long_rows) = (self.allocate_array::<u32>(room.units)?, self.allocate_array::<u32>(room.long_rows)?);
        let (offsets, piece_offsets) = (In::new(&matrix.offsets), In::new(&matrix.piece_offsets));
        let counters = Out::new(&matrix.counters);
        let build = BuildChunks {
            params,
            offsets,
            piece_offsets,
            piece_rows: Out::new(&rows),
            counters,
            units: Out::new(&units),
            long_rows: Out::new(&long_rows),
        };
        self.launch(cut.pieces(), build)?;
        let (piece_rows, pieces) = (In::new(&rows), Out::new(&ordered));
        self.launch(cut.pieces(), SortChunks { params, offsets, piece_offsets, piece_rows, counters, pieces })?;
        Ok(RowChunks { rows, ordered, units, long_rows })
    }
}
