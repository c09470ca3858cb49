//! Queues the kernels of a multi-scalar multiplication, in order, on one stream; nothing waits for the host in between.
//! A scratch buffer may be dropped once its last kernel is queued: its memory is reused in the order of the stream.
//! Buffers have the sizes that the largest chunk and band need, so that each chunk reuses the blocks of the previous
//! one.

use crate::Result;
use crate::backend::{Arg, Buffer, Event, PinnedBuffer, Stream};
use crate::module_launcher::{KernelModule, buffer_arg};
use crate::msm::plan::{MatrixSizes, MsmPlan, WindowRange};
use crate::msm::scalars::ScalarForm;

/// Number of counters of a band that precede those of its bins and rows: `BIN_COUNTS` of `cl/msm_digits.cl`.
const OTHER_COUNTERS: u64 = 64 + 2 * 512;
/// Tiles whose bins one workgroup finds: `TILE_SHARE` of `cl/msm_digits.cl`.
const TILE_SHARE: u64 = 4096;
/// Rows whose counters one workgroup adds up: `ROWS_BLOCK` of `cl/msm_digits.cl`.
const ROWS_BLOCK: u64 = 2048;
/// Work-items of a workgroup that sorts entries, as in `cl/msm_digits.cl`.
const SORT_GROUP: u32 = 256;
/// Matrix entries that one sorting workgroup handles.
const SORT_TILE: u32 = 2048;
/// Minimum entries of a matrix that is sorted in tiles of the device's maximum size: longer runs then pay more than more
/// workgroups do.
const LONG_SORT: u64 = 1 << 26;
/// Desired number of workgroups that compute digits: enough to fill a device, few enough that their counts of bins are
/// quickly added up.
const DIGITS_GROUPS: u32 = 512;
/// Maximum scalars per workgroup that computes digits.
const MAX_DIGITS_TILE: u32 = 4096;
/// Work-items of a workgroup that sums points, `SUM_GROUP` of `cl/curve_quad.cl`.
const SUM_GROUP: u32 = 64;
/// Work-items that add a point together.
const QUAD: u64 = 4;
/// Work-items of a workgroup of batched affine additions, `AFFINE_GROUP` of `cl/msm_batch_affine.cl`.
const AFFINE_GROUP: u32 = 32;
/// Work-items of a workgroup that lists pairs of slots: `LIST_GROUP` of `cl/msm_batch_affine.cl`.
const LIST_GROUP: u32 = 256;
/// Pairs of slots (places for entries) that one workgroup reads: `LIST_BLOCK` of `cl/msm_batch_affine.cl`.
const LIST_BLOCK: u64 = 2048;
/// Maximum workgroups that merge the sums of pieces of rows. They loop over the work, since only the device knows how
/// much there is to merge.
const MERGE_GROUPS: u64 = 2048;

/// Holds the transposed digits of a chunk in a band of windows: a CSR matrix with a row per bucket of each window, or
/// two rows if GLV is used.
pub(super) struct DigitMatrix {
    chunk_rows: MatrixSizes,
    /// Index of the first row's bucket among the device's buckets.
    first_bucket: u32,
    /// Index of the first entry of each row.
    offsets: Buffer,
    /// Index of the first piece of each row; rows are cut into pieces for load balance.
    piece_offsets: Buffer,
    entries: Buffer,
    counters: Buffer,
}

/// Holds entries in their bins (ranges of rows), the start of each bin, and the bin of each tile's first entry.
struct BinnedEntries {
    bins: Buffer,
    tile_bins: Buffer,
    entries: Buffer,
}

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

/// Refers to scalars of a vector in a device buffer, from index `start` on.
pub(super) struct ScalarSlice<'a> {
    pub scalars: &'a Buffer,
    pub start: u32,
    pub form: ScalarForm,
    /// Maximum bits of a scalar.
    pub bits: u32,
}

/// Describes a chunk of the scalar vectors of a matrix. Their scalars belong to the bases from index `base` on; a
/// further copy of a base is `stride` bases after the previous one.
pub(super) struct DigitInput<'a> {
    pub vectors: Vec<ScalarSlice<'a>>,
    pub count: usize,
    /// Index of the first scalar among all points.
    pub first: usize,
    pub base: u32,
    pub stride: u32,
    /// A flag per vector, set if a scalar has more bits than promised.
    pub too_long: &'a Buffer,
}

/// Holds the stream that kernels are queued on, with their module and plan.
pub(super) struct KernelQueue<'a> {
    pub stream: &'a mut Stream,
    pub program: KernelModule,
    pub plan: MsmPlan,
    /// Bytes of an XYZZ point.
    pub point_bytes: usize,
}

impl KernelQueue<'_> {
    fn launch(&mut self, kernel: &str, items: u64, group: u32, args: &[Arg]) -> Result<()> {
        // SAFETY: every caller below passes the arguments that the kernel declares in `cl/`, with
        // buffers sized by the plan, whose bounds the kernels keep to.
        unsafe { self.program.launch(self.stream, kernel, items, group, args) }
    }

    fn allocate_words(&self, count: u64) -> Result<Buffer> {
        self.allocate_bytes(4 * count)
    }

    fn allocate_bytes(&self, count: u64) -> Result<Buffer> {
        self.stream.scratch(count as usize)
    }

    fn allocate_points(&self, count: u64) -> Result<Buffer> {
        self.allocate_bytes(count * self.point_bytes as u64)
    }

    /// Allocates the buckets of the device's windows, for all vectors of a matrix. All bytes are zero: every bucket is
    /// infinity.
    pub(super) fn allocate_buckets(&mut self) -> Result<Buffer> {
        let buckets = self.allocate_points(u64::from(self.plan.joined_bucket_count()))?;
        // A device may have no windows.
        if self.plan.joined_bucket_count() > 0 {
            self.stream.zero(&buckets)?;
        }
        Ok(buckets)
    }

    /// Transposes a chunk's digits in `band` (step 1): queues kernels that sort matrix entries into bins of rows, then
    /// into rows.
    pub(super) fn transpose_digits(&mut self, digits: &DigitInput<'_>, band: WindowRange) -> Result<DigitMatrix> {
        let chunk_rows = self.plan.matrix_sizes(digits.count, band);
        let room = self.plan.buffer_sizes();
        let (counters, entries) = (self.allocate_counters()?, self.allocate_words(room.slots[0])?);
        if chunk_rows.levels > 0 {
            self.stream.zero(&entries)?;
        }
        let binned = self.sort_into_bins(digits, band, chunk_rows, &counters)?;
        let tile = self.sort_tile(chunk_rows);
        let numbers = [chunk_rows.bins, self.plan.low_bit_count(), tile].map(Arg::U32);
        let tiles = chunk_rows.entries().div_ceil(tile.into()) * u64::from(SORT_GROUP);
        let found = [&binned.bins, &binned.tile_bins, &binned.entries].map(buffer_arg);
        let found = [&numbers[..], &found, &[Arg::U32(room.entries as u32), buffer_arg(&counters)]].concat();
        self.launch("msm_histogram_rows", tiles, SORT_GROUP, &found)?;
        let (offsets, piece_offsets) = self.row_offsets(chunk_rows, &counters)?;
        self.launch("msm_scatter_entries", tiles, SORT_GROUP, &[&found[..], &[buffer_arg(&entries)]].concat())?;
        let first_bucket = self.plan.local_first_bucket(band.from);
        Ok(DigitMatrix { chunk_rows, first_bucket, offsets, piece_offsets, entries, counters })
    }

    /// Allocates a band's counters, all zero.
    fn allocate_counters(&mut self) -> Result<Buffer> {
        let room = self.plan.buffer_sizes();
        let counters = self.allocate_words(OTHER_COUNTERS + room.bins + room.rows)?;
        self.stream.zero(&counters)?;
        Ok(counters)
    }

    /// Queues the kernels that compute digits and sort them into bins. Returns the entries in the order of their bins.
    fn sort_into_bins(
        &mut self,
        digits: &DigitInput<'_>,
        band: WindowRange,
        cut: MatrixSizes,
        counters: &Buffer,
    ) -> Result<BinnedEntries> {
        let (plan, low) = (self.plan, self.plan.low_bit_count());
        let room = plan.buffer_sizes();
        let found = self.allocate_bytes(room.digits_or_prefix_bytes)?;
        self.make_digits(digits, band, [&found, counters])?;
        let (bins, cursors, tile_bins) = self.scan_bins(cut, counters)?;
        let entries = self.allocate_bytes(room.entries_or_sums_bytes)?;
        let tile = self.sort_tile(cut);
        // GLV halves count as copies of windows, but of the same bases.
        let (windows, stride) = (plan.windows * plan.rows_per_bucket(), if plan.glv { 0 } else { digits.stride });
        let windows = [cut.points, plan.sort_key_bits(), plan.wide_windows, windows, plan.sets, band.from, band.to];
        let numbers = [low, tile, stride, digits.base, cut.windows_per_vector()];
        let buffers = [buffer_arg(&found), buffer_arg(&cursors), buffer_arg(&entries), Arg::U32(room.entries as u32)];
        let args = [&windows.map(Arg::U32)[..], &numbers.map(Arg::U32), &buffers].concat();
        let tiles = u64::from(cut.points.div_ceil(tile)) * u64::from(cut.vectors * cut.windows_per_vector());
        self.launch("msm_scatter_bins", tiles * u64::from(SORT_GROUP), SORT_GROUP, &args)?;
        Ok(BinnedEntries { bins, tile_bins, entries })
    }

    /// Queues the kernels that compute the digits of each vector, and count the digits of each bin.
    fn make_digits(&mut self, digits: &DigitInput<'_>, band: WindowRange, out: [&Buffer; 2]) -> Result<()> {
        let (plan, cut) = (self.plan, self.plan.matrix_sizes(digits.count, band));
        let tile = cut.points.div_ceil(DIGITS_GROUPS).next_multiple_of(SORT_GROUP).min(MAX_DIGITS_TILE);
        let items = u64::from(cut.points.div_ceil(tile)) * u64::from(SORT_GROUP);
        let chunk = digits.first..digits.first + digits.count;
        let (skip, until) =
            (plan.set_point_range(band.from, &chunk).start, plan.set_point_range(band.to - 1, &chunk).end);
        let windows = [
            cut.points,
            plan.sort_key_bits(),
            plan.wide_windows,
            plan.sets,
            band.from,
            band.to,
            plan.low_bit_count(),
            tile,
        ];
        let of_whole = [plan.windows, skip, until].map(Arg::U32);
        let (kernel, more) = if plan.glv { ("msm_glv_digits", &[][..]) } else { ("msm_digits", &of_whole[..]) };
        for (vector, ScalarSlice { scalars, start, form, bits }) in digits.vectors.iter().enumerate() {
            let montgomery = u32::from(*form == ScalarForm::Montgomery);
            let vector = vector as u32;
            let first_digit = vector * cut.windows_per_vector() * cut.points;
            let numbers = [montgomery, *bits, *start, vector, first_digit].map(Arg::U32);
            let buffers = [*scalars, out[0], out[1], digits.too_long].map(buffer_arg);
            let args = [&windows.map(Arg::U32)[..], &numbers, more, &buffers].concat();
            self.launch(kernel, items, SORT_GROUP, &args)?;
        }
        Ok(())
    }

    /// Returns the number of entries that a workgroup sorts.
    fn sort_tile(&self, cut: MatrixSizes) -> u32 {
        if cut.entries() >= LONG_SORT { self.stream.device().info().caps.max_sort_tile } else { SORT_TILE }
    }

    /// Queues the prefix sums over bins. Returns the start of each bin, a copy of the starts that sorting advances, and
    /// the bin of each tile's first entry.
    fn scan_bins(&mut self, cut: MatrixSizes, counters: &Buffer) -> Result<(Buffer, Buffer, Buffer)> {
        let room = self.plan.buffer_sizes();
        let [bins, cursors] = [1, 0].map(|more| self.allocate_words(room.bins + more));
        let (bins, cursors) = (bins?, cursors?);
        let tile_bins = self.allocate_words(room.entries.div_ceil(SORT_TILE.into()))?;
        let tile = self.sort_tile(cut);
        let tiles = cut.entries().div_ceil(tile.into());
        let numbers = [cut.bins, tile, tiles as u32].map(Arg::U32);
        let args = [&numbers[..], &[counters, &bins, &cursors, &tile_bins].map(buffer_arg)].concat();
        let groups = tiles.div_ceil(TILE_SHARE).max(1);
        self.launch("msm_scan_bins", groups * u64::from(SORT_GROUP), SORT_GROUP, &args)?;
        Ok((bins, cursors, tile_bins))
    }

    /// Queues the prefix sums over rows. Returns the first entry of each row and its first piece; the rows' counters
    /// become cursors.
    fn row_offsets(&mut self, cut: MatrixSizes, counters: &Buffer) -> Result<(Buffer, Buffer)> {
        let [offsets, piece_offsets] = [(); 2].map(|()| self.allocate_words(self.plan.buffer_sizes().rows + 1));
        let (offsets, piece_offsets) = (offsets?, piece_offsets?);
        let blocks = (u64::from(cut.rows) + 1).div_ceil(ROWS_BLOCK);
        let (sums, items) = (self.allocate_words(2 * blocks)?, blocks * u64::from(SORT_GROUP));
        let numbers = [cut.bins, cut.rows, cut.levels, cut.piece, self.plan.glv.into()].map(Arg::U32);
        let args = [&numbers[..], &[counters, &sums].map(buffer_arg)].concat();
        self.launch("msm_scan_row_blocks", items, SORT_GROUP, &args)?;
        let args = [&numbers[..], &[&sums, counters, &offsets, &piece_offsets].map(buffer_arg)].concat();
        self.launch("msm_scan_rows", items, SORT_GROUP, &args)?;
        Ok((offsets, piece_offsets))
    }

    /// Accumulates buckets (step 2): queues kernels that add `matrix` times `bases` to `buckets`.
    pub(super) fn accumulate(&mut self, matrix: &DigitMatrix, bases: &Buffer, buckets: &Buffer) -> Result<()> {
        let halved = self.batched_affine_rounds(matrix, bases)?;
        let pieces = self.chunk_rows(matrix)?;
        let chunk_rows = matrix.chunk_rows;
        let partial = self.allocate_bytes(self.plan.buffer_sizes().digits_or_prefix_bytes)?;
        let (points, above) = halved.as_ref().map_or((bases, None), |halved| (&halved.sums, halved.entries.as_ref()));
        let entries = above.unwrap_or(&matrix.entries);
        let (offsets, first_bucket) = (&matrix.piece_offsets, matrix.first_bucket);
        let numbers = [chunk_rows.buckets, chunk_rows.piece, first_bucket].map(Arg::U32);
        let summed = [offsets, &pieces.ordered, entries, points, buckets, &partial].map(buffer_arg);
        self.launch("msm_accumulate", chunk_rows.pieces(), 128, &[&numbers[..], &summed].concat())?;
        self.enqueue_piece_merge(matrix, &pieces, [buckets, &partial])
    }

    /// Queues the kernels that merge the sums of `pieces` into `buckets`, for rows of several pieces.
    fn enqueue_piece_merge(
        &mut self,
        matrix: &DigitMatrix,
        pieces: &RowChunks,
        [buckets, partial]: [&Buffer; 2],
    ) -> Result<()> {
        let DigitMatrix { chunk_rows: cut, first_bucket, offsets, piece_offsets, counters, .. } = matrix;
        let groups = |most: u64| most.min(MERGE_GROUPS) * u64::from(SUM_GROUP);
        let numbers = [cut.levels, cut.piece, self.plan.glv.into(), *first_bucket].map(Arg::U32);
        let of_units =
            [offsets, piece_offsets, &pieces.rows, counters, &pieces.units, buckets, partial].map(buffer_arg);
        let of_rows = [offsets, piece_offsets, counters, &pieces.long_rows, buckets, partial].map(buffer_arg);
        self.launch("msm_merge_chunks", groups(cut.max_merge_runs()), SUM_GROUP, &[&numbers[..], &of_units].concat())?;
        self.launch("msm_merge_rows", groups(cut.long_rows()), SUM_GROUP, &[&numbers[..], &of_rows].concat())
    }

    /// Queues the rounds of batched affine additions. Returns the points that they leave of every row, or `None` if
    /// there are no rounds.
    fn batched_affine_rounds(&mut self, matrix: &DigitMatrix, bases: &Buffer) -> Result<Option<AffineRoundSums>> {
        let (levels, room) = (matrix.chunk_rows.levels, self.plan.buffer_sizes());
        if levels == 0 {
            return Ok(None);
        }
        let (above, list) = (self.allocate_words(room.slots[1])?, self.allocate_words(room.pairs)?);
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
        let numbers = [cut.rows, level, room.sums as u32].map(Arg::U32);
        let buffers = [&matrix.offsets, entries, above, bases, sums, &matrix.counters, list].map(buffer_arg);
        let items = cut.slots(level + 1).div_ceil(LIST_BLOCK) * u64::from(LIST_GROUP);
        self.launch("msm_collect_pairs", items, LIST_GROUP, &[&numbers[..], &buffers].concat())?;
        let points = if level == 0 { bases } else { sums };
        let buffers = [entries, above, points, sums, &matrix.counters, list, prefixes].map(buffer_arg);
        let items = cut.affine_groups() * u64::from(AFFINE_GROUP);
        let numbers = [level, cut.affine_tile_pairs() as u32].map(Arg::U32);
        self.launch("msm_batch_affine_add", items, AFFINE_GROUP, &[&numbers[..], &buffers].concat())
    }

    /// Queues the kernels that cut rows into pieces and order these by length.
    fn chunk_rows(&mut self, matrix: &DigitMatrix) -> Result<RowChunks> {
        let (cut, room) = (matrix.chunk_rows, self.plan.buffer_sizes());
        let numbers = [cut.buckets, cut.levels, cut.piece, self.plan.glv.into()].map(Arg::U32);
        let (rows, ordered) = (self.allocate_words(room.pieces)?, self.allocate_words(3 * room.pieces)?);
        let (units, long_rows) = (self.allocate_words(room.units)?, self.allocate_words(room.long_rows)?);
        let (offsets, piece_offsets, counters) = (&matrix.offsets, &matrix.piece_offsets, &matrix.counters);
        let found = [offsets, piece_offsets, &rows, counters, &units, &long_rows].map(buffer_arg);
        self.launch("msm_build_chunks", cut.pieces(), 256, &[&numbers[..], &found].concat())?;
        let placed = [offsets, piece_offsets, &rows, counters, &ordered].map(buffer_arg);
        self.launch("msm_sort_chunks", cut.pieces(), 256, &[&numbers[..], &placed].concat())?;
        Ok(RowChunks { rows, ordered, units, long_rows })
    }

    /// Reduces `buckets` (step 3): queues kernels that leave [`MsmPlan::reduced_point_count`] points of every vector. Their sum,
    /// weighted by [`MsmPlan::weight_exponent`], is the result. Returns an event that precedes the last, short kernels, and the
    /// pinned memory to which the Jacobian coordinates are being copied.
    pub(super) fn reduce(&mut self, buckets: &Buffer) -> Result<(Event, PinnedBuffer)> {
        let plan = self.plan;
        let segments = u64::from(plan.joined_segment_count());
        let (shares, totals) = (self.allocate_points(segments)?, self.allocate_points(segments)?);
        let numbers = [segments as u32, plan.segment_index_bits(), plan.segment].map(Arg::U32);
        let windows = [plan.first_set, plan.end_set, plan.sets, plan.wide_windows].map(Arg::U32);
        let args = [&numbers[..], &windows, &[buffer_arg(buckets), buffer_arg(&shares), buffer_arg(&totals)]].concat();
        match plan.quads {
            true => self.launch("msm_reduce_segments", QUAD * segments, SUM_GROUP, &args)?,
            false => self.launch("msm_reduce_segments_scalar", segments, SUM_GROUP, &args)?,
        }
        let soon = self.stream.record_event()?;
        let count = plan.vectors_per_matrix() * plan.reduced_point_count();
        let groups = u64::from(count * plan.sum_part_count());
        let parts = self.allocate_points(groups)?;
        let numbers = [plan.segment_index_bits(), plan.sum_part_count()].map(Arg::U32);
        let args = [&numbers[..], &[buffer_arg(&shares), buffer_arg(&totals), buffer_arg(&parts)]].concat();
        self.launch("msm_weighted_bit_sums", groups * u64::from(SUM_GROUP), SUM_GROUP, &args)?;
        // A Jacobian point has three coordinates, an XYZZ point four.
        let bytes = count as usize * self.point_bytes / 4 * 3;
        let (mut result, sums) = (self.stream.allocate_pinned(bytes)?, self.stream.scratch(bytes)?);
        let args = [Arg::U32(plan.sum_part_count()), buffer_arg(&parts), buffer_arg(&sums)];
        self.launch("msm_sum_parts", u64::from(count * SUM_GROUP), SUM_GROUP, &args)?;
        self.stream.end_timing()?;
        self.stream.copy_to_pinned(&mut result, &sums)?;
        Ok((soon, result))
    }
}
