//! Queues the kernels of a multi-scalar multiplication, in order, on one stream; nothing waits for the host in between.
//! A scratch buffer may be dropped once its last kernel is queued: its memory is reused in the order of the stream.
//! Buffers have the sizes that the largest chunk and band need, so that each chunk reuses the blocks of the previous
//! one.

use crate::Result;
use crate::backend::{Buffer, Event, PinnedBuffer, Stream};
use crate::kernel_arguments::{In, Kernel, Out, Value};
use crate::kernels::msm::{
    Accumulate, BIN_COUNTS, BatchAffineAdd, BuildChunks, CollectPairs, CollectParams, Coordinate, Digits, DigitsParams,
    GlvDigits, HistogramRows, LIST_BLOCK, MergeChunks, MergeRows, QUAD, ROWS_BLOCK, ReduceParams, ReduceSegments,
    ReduceSegmentsScalar, RowsParams, SORT_GROUP, ScanBins, ScanRowBlocks, ScanRows, ScatterBins, ScatterEntries,
    ScatterParams, SortChunks, SumParts, TILE_SHARE, WeightedBitSums,
};
use crate::module_launcher::KernelModule;
use crate::msm::plan::{MatrixSizes, MsmPlan, WindowRange};
use crate::msm::scalars::ScalarForm;

/// Number of counters of a band that precede those of its bins and rows.
const OTHER_COUNTERS: u64 = BIN_COUNTS as u64;
/// Matrix entries that one sorting workgroup handles.
const SORT_TILE: u32 = 2048;
/// Minimum entries of a matrix that is sorted in the longest tiles that the device can take: longer runs then pay more
/// than more workgroups do.
const LONG_SORT: u64 = 1 << 26;
/// Desired number of workgroups that compute digits: enough to fill a device, few enough that their counts of bins are
/// quickly added up.
const DIGITS_GROUPS: u32 = 512;
/// Maximum scalars per workgroup that computes digits.
const MAX_DIGITS_TILE: u32 = 4096;
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
    /// Queues `kernel` over at least `items` work-items. The plan has sized its buffers for its numbers.
    fn launch<K: Kernel>(&mut self, items: u64, kernel: K) -> Result<()> {
        self.program.run(self.stream, items, kernel)
    }

    /// Queues `kernel` over `groups` work-groups.
    fn launch_groups<K: Kernel>(&mut self, groups: u64, kernel: K) -> Result<()> {
        self.launch(groups * u64::from(K::GROUP_SIZE), kernel)
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
        let (band_bins, low, room) = (chunk_rows.bins, self.plan.low_bit_count(), room.entries as u32);
        let (bins, tile_bins) = (In::new(&binned.bins), In::new(&binned.tile_bins));
        let (binned, counts) = (Out::new(&binned.entries), Out::new(&counters));
        let tiles = chunk_rows.entries().div_ceil(tile.into());
        let histogram =
            HistogramRows { band_bins, low, tile, bins, tile_bins, entries: binned, room, counters: counts };
        self.launch_groups(tiles, histogram)?;
        let (offsets, piece_offsets) = self.row_offsets(chunk_rows, &counters)?;
        let scatter = ScatterEntries {
            band_bins,
            low,
            tile,
            bins,
            tile_bins,
            entries: binned,
            room,
            counters: counts,
            out: Out::new(&entries),
        };
        self.launch_groups(tiles, scatter)?;
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
        let plan = self.plan;
        let room = plan.buffer_sizes();
        let found = self.allocate_bytes(room.digits_or_prefix_bytes)?;
        self.make_digits(digits, band, [&found, counters])?;
        let (bins, cursors, tile_bins) = self.scan_bins(cut, counters)?;
        let entries = self.allocate_bytes(room.entries_or_sums_bytes)?;
        let tile = self.sort_tile(cut);
        // GLV halves count as copies of windows, but of the same bases.
        let (windows, stride) = (plan.windows * plan.rows_per_bucket(), if plan.glv { 0 } else { digits.stride });
        let params = ScatterParams {
            n: cut.points,
            c: plan.sort_key_bits(),
            wide: plan.wide_windows,
            windows,
            sets: plan.sets,
            from: band.from,
            to: band.to,
            low: plan.low_bit_count(),
            tile,
            stride,
            base: digits.base,
            places: cut.windows_per_vector(),
            room: room.entries as u32,
        };
        let tiles = u64::from(cut.points.div_ceil(tile)) * u64::from(cut.vectors * cut.windows_per_vector());
        let (digits, cursors, out) = (In::new(&found), Out::new(&cursors), Out::new(&entries));
        self.launch_groups(tiles, ScatterBins { params: Value(&params), digits, cursors, entries: out })?;
        Ok(BinnedEntries { bins, tile_bins, entries })
    }

    /// Queues the kernels that compute the digits of each vector, and count the digits of each bin.
    fn make_digits(&mut self, digits: &DigitInput<'_>, band: WindowRange, out: [&Buffer; 2]) -> Result<()> {
        let cut = self.plan.matrix_sizes(digits.count, band);
        let tile = cut.points.div_ceil(DIGITS_GROUPS).next_multiple_of(SORT_GROUP).min(MAX_DIGITS_TILE);
        let groups = u64::from(cut.points.div_ceil(tile));
        let shared = self.digits_params(digits, band, tile);
        let (out, counters, too_long) = (Out::new(out[0]), Out::new(out[1]), Out::new(digits.too_long));
        for (vector, ScalarSlice { scalars, start, form, bits }) in digits.vectors.iter().enumerate() {
            let params = DigitsParams {
                montgomery: u32::from(*form == ScalarForm::Montgomery),
                bits: *bits,
                start: *start,
                vector: vector as u32,
                first_digit: vector as u32 * cut.windows_per_vector() * cut.points,
                ..shared
            };
            let (params, scalars) = (Value(&params), In::new(scalars));
            match self.plan.glv {
                true => self.launch_groups(groups, GlvDigits { params, scalars, digits: out, counters, too_long })?,
                false => self.launch_groups(groups, Digits { params, scalars, digits: out, counters, too_long })?,
            }
        }
        Ok(())
    }

    /// Returns the numbers that the kernels of all vectors of `digits` take, for work-groups of `tile` scalars.
    fn digits_params(&self, digits: &DigitInput<'_>, band: WindowRange, tile: u32) -> DigitsParams {
        let plan = self.plan;
        let chunk = digits.first..digits.first + digits.count;
        DigitsParams {
            n: plan.matrix_sizes(digits.count, band).points,
            c: plan.sort_key_bits(),
            wide: plan.wide_windows,
            sets: plan.sets,
            from: band.from,
            to: band.to,
            low: plan.low_bit_count(),
            tile,
            windows: plan.windows,
            skip: plan.set_point_range(band.from, &chunk).start,
            until: plan.set_point_range(band.to - 1, &chunk).end,
            montgomery: 0,
            bits: 0,
            start: 0,
            vector: 0,
            first_digit: 0,
        }
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
        let scan = ScanBins {
            band_bins: cut.bins,
            tile,
            tiles: tiles as u32,
            counters: In::new(counters),
            bins: Out::new(&bins),
            cursors: Out::new(&cursors),
            tile_bins: Out::new(&tile_bins),
        };
        self.launch_groups(tiles.div_ceil(TILE_SHARE.into()).max(1), scan)?;
        Ok((bins, cursors, tile_bins))
    }

    /// Queues the prefix sums over rows. Returns the first entry of each row and its first piece; the rows' counters
    /// become cursors.
    fn row_offsets(&mut self, cut: MatrixSizes, counters: &Buffer) -> Result<(Buffer, Buffer)> {
        let [offsets, piece_offsets] = [(); 2].map(|()| self.allocate_words(self.plan.buffer_sizes().rows + 1));
        let (offsets, piece_offsets) = (offsets?, piece_offsets?);
        let blocks = (u64::from(cut.rows) + 1).div_ceil(ROWS_BLOCK.into());
        let sums = self.allocate_words(2 * blocks)?;
        let (band_bins, rows, levels, limit, halved) =
            (cut.bins, cut.rows, cut.levels, cut.piece, self.plan.glv.into());
        let (counts, out) = (In::new(counters), Out::new(&sums));
        let scan = ScanRowBlocks { band_bins, rows, levels, limit, halved, counters: counts, sums: out };
        self.launch_groups(blocks, scan)?;
        let scan = ScanRows {
            band_bins,
            rows,
            levels,
            limit,
            halved,
            sums: In::new(&sums),
            counters: Out::new(counters),
            offsets: Out::new(&offsets),
            piece_offsets: Out::new(&piece_offsets),
        };
        self.launch_groups(blocks, scan)?;
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
        self.enqueue_piece_merge(matrix, &pieces, [buckets, &partial])
    }

    /// Queues the kernels that merge the sums of `pieces` into `buckets`, for rows of several pieces.
    fn enqueue_piece_merge(
        &mut self,
        matrix: &DigitMatrix,
        pieces: &RowChunks,
        [buckets, partial]: [&Buffer; 2],
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
        let add = BatchAffineAdd::<Coordinate> {
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
        let (rows, ordered) = (self.allocate_words(room.pieces)?, self.allocate_words(3 * room.pieces)?);
        let (units, long_rows) = (self.allocate_words(room.units)?, self.allocate_words(room.long_rows)?);
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

    /// Reduces `buckets` (step 3): queues kernels that leave [`MsmPlan::reduced_point_count`] points of every vector. Their sum,
    /// weighted by [`MsmPlan::weight_exponent`], is the result. Returns an event that precedes the last, short kernels, and the
    /// pinned memory to which the Jacobian coordinates are being copied.
    pub(super) fn reduce(&mut self, buckets: &Buffer) -> Result<(Event, PinnedBuffer)> {
        let plan = self.plan;
        let segments = u64::from(plan.joined_segment_count());
        let (shares, totals) = (self.allocate_points(segments)?, self.allocate_points(segments)?);
        self.reduce_segments(buckets, [&shares, &totals])?;
        let soon = self.stream.record_event()?;
        let count = plan.vectors_per_matrix() * plan.reduced_point_count();
        let groups = u64::from(count * plan.sum_part_count());
        let parts = self.allocate_points(groups)?;
        let sums = WeightedBitSums {
            bits: plan.segment_index_bits(),
            parts: plan.sum_part_count(),
            shares: In::new(&shares),
            totals: In::new(&totals),
            out: Out::new(&parts),
        };
        self.launch_groups(groups, sums)?;
        // A Jacobian point has three coordinates, an XYZZ point four.
        let bytes = count as usize * self.point_bytes / 4 * 3;
        let (mut result, sums) = (self.stream.allocate_pinned(bytes)?, self.stream.scratch(bytes)?);
        let sum = SumParts { count: plan.sum_part_count(), parts: In::new(&parts), out: Out::new(&sums) };
        self.launch_groups(count.into(), sum)?;
        self.stream.end_timing()?;
        self.stream.copy_to_pinned(&mut result, &sums)?;
        Ok((soon, result))
    }
    /// Queues the kernel that computes `[shares, totals]` of the segments of `buckets`.
    fn reduce_segments(&mut self, buckets: &Buffer, [shares, totals]: [&Buffer; 2]) -> Result<()> {
        let plan = self.plan;
        let segments = u64::from(plan.joined_segment_count());
        let params = ReduceParams {
            segments: segments as u32,
            bits: plan.segment_index_bits(),
            segment: plan.segment,
            from: plan.first_set,
            to: plan.end_set,
            sets: plan.sets,
            wide: plan.wide_windows,
        };
        let (params, shares, totals) = (Value(&params), Out::new(shares), Out::new(totals));
        match plan.quads {
            true => {
                let reduce = ReduceSegments { params, buckets: In::new(buckets), shares, totals };
                self.launch(u64::from(QUAD) * segments, reduce)
            }
            false => {
                let reduce = ReduceSegmentsScalar { params, buckets: Out::new(buckets), shares, totals };
                self.launch(segments, reduce)
            }
        }
    }
}
