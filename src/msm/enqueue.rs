//! The kernels of a multi-scalar multiplication, in order, on one stream; nothing waits for the host in
//! between. A scratch buffer may be dropped once its last kernel is queued: its memory is reused in the
//! order of the stream. Buffers are as large as the largest chunk and band need them, so that every one finds
//! the blocks of the one before.

use super::cut::{Band, Cut};
use super::options::Form;
use super::plan::Plan;
use crate::Result;
use crate::backend::{Arg, BackendKind, Buffer, HostBuffer, Stream};
use crate::program::{Program, mem};

/// Elements that a group of `scan_blocks` sums.
const SCAN_BLOCK: u32 = 2048;
/// Work-items of a group that sorts entries, as in `cl/msm_digits.cl`.
const SORT_GROUP: u32 = 256;
/// Entries that it takes; and with CUDA, `SORT_ROOM` of `cuda/dialect.cuh`, where so many are sorted that longer runs count
/// for more than groups.
const SORT_TILE: u32 = 2048;
const LONG_SORT_TILE: u32 = 4096;
const LONG_SORT: u64 = 1 << 26;
/// Groups wanted that make digits, and most scalars of one: enough to fill a device, few enough that their counts of
/// bins are quickly added up.
const DIGITS_GROUPS: u32 = 512;
const MAX_DIGITS_TILE: u32 = 4096;
/// Lengths of pieces that are told apart, `BINS` of `cl/msm_rows.cl`.
const BINS: u32 = 512;
/// Work-items of a group that sums points, `SUM_GROUP` of `cl/quad.cl`, and of a point's quad in it.
const SUM_GROUP: u32 = 64;
const QUAD: u64 = 4;
/// Work-items of a group of batched affine additions, `AFFINE_GROUP` of `cl/msm_affine.cl`.
const AFFINE_GROUP: u32 = 32;
/// Work-items of a group that lists pairs, and pairs that it looks at, there.
const LIST_GROUP: u32 = 256;
const LIST_BLOCK: u64 = 2048;
/// Groups that merge pieces: they take turns, for only the device knows how much there is to merge.
const MERGE_GROUPS: u64 = 2048;

/// The transposed digits of a chunk in a band of windows: a CSR matrix with a row per bucket of each.
pub(super) struct Matrix {
    cut: Cut,
    /// The bucket of the first row.
    first_bucket: u32,
    offsets: Buffer,
    entries: Buffer,
}

/// The matrix's rows cut for balance.
struct Pieces {
    offsets: Buffer,
    descriptions: Buffer,
    order: Buffer,
    /// Numbers of units and of long rows, then the lists.
    merge_counts: Buffer,
    units: Buffer,
    long_rows: Buffer,
}

/// Scalars of a vector on the device, from `start` on.
pub(super) struct Coefficients<'a> {
    pub scalars: &'a Buffer,
    pub start: u32,
    pub form: Form,
}

/// A chunk of the vectors of a matrix: their scalars belong to the bases from `base` on, of `stride` in a copy.
pub(super) struct Digits<'a> {
    pub vectors: Vec<Coefficients<'a>>,
    pub count: usize,
    /// The first one's place among the points.
    pub first: usize,
    pub base: u32,
    pub stride: u32,
    /// Of each vector whether a scalar is longer than the windows.
    pub too_long: &'a Buffer,
}

/// A stream with what every step needs.
pub(super) struct Enqueue<'a> {
    pub stream: &'a mut Stream,
    pub program: Program,
    pub plan: Plan,
    /// Bytes of an XYZZ point.
    pub point_bytes: usize,
}

impl Enqueue<'_> {
    fn launch(&mut self, kernel: &str, items: u64, group: u32, args: &[Arg]) -> Result<()> {
        // SAFETY: every caller below passes the arguments that the kernel declares in `cl/`, with
        // buffers sized by the plan, whose bounds the kernels keep to.
        unsafe { self.program.launch(self.stream, kernel, items, group, args) }
    }

    fn words(&self, count: u64) -> Result<Buffer> {
        self.bytes(4 * count)
    }

    fn bytes(&self, count: u64) -> Result<Buffer> {
        self.stream.scratch(count as usize)
    }

    fn points(&self, count: u64) -> Result<Buffer> {
        self.bytes(count * self.point_bytes as u64)
    }

    /// The buckets of the device's windows, empty: zero bytes are infinity.
    pub fn buckets(&mut self) -> Result<Buffer> {
        let buckets = self.points(u64::from(self.plan.all_rows()))?;
        // A device may be left without windows.
        if self.plan.all_rows() > 0 {
            self.stream.zero(&buckets)?;
        }
        Ok(buckets)
    }

    /// Step 1, a chunk's digits in a band transposed: sorted into bins of rows, then into rows.
    pub fn transpose(&mut self, digits: &Digits<'_>, band: Band) -> Result<Matrix> {
        let cut = self.plan.cut(digits.count, band);
        let room = self.plan.room();
        let (bins, binned) = self.sort_into_bins(digits, band, cut)?;
        let (tile_bins, binned_room) = (self.tile_bins(&bins, cut)?, Arg::U32(room.entries() as u32));
        let offsets = self.words(u64::from(room.rows) + 1)?;
        self.stream.zero(&offsets)?;
        let tile = self.sort_tile(cut);
        let numbers = [cut.bins, self.plan.low_bits(), tile].map(Arg::U32);
        let tiles = cut.entries().div_ceil(tile.into()) * u64::from(SORT_GROUP);
        let found = [&bins, &tile_bins, &binned].map(mem);
        let args = [&numbers[..], &found, &[binned_room, mem(&offsets)]].concat();
        self.launch("msm_count_rows", tiles, SORT_GROUP, &args)?;
        if self.plan.levels > 0 {
            let args = [Arg::U32(cut.rows), Arg::U32(self.plan.levels), mem(&offsets)];
            self.launch("msm_pad_rows", cut.rows.into(), 256, &args)?;
        }
        self.scan(&offsets, cut.rows, cut.rows + 1)?;
        let (cursors, entries) = (self.copy_of(&offsets)?, self.words(room.slots(0))?);
        if self.plan.levels > 0 {
            self.stream.zero(&entries)?;
        }
        let args = [&numbers[..], &found, &[binned_room, mem(&cursors), mem(&entries)]].concat();
        self.launch("msm_place", tiles, SORT_GROUP, &args)?;
        Ok(Matrix { cut, first_bucket: self.plan.first_bucket(band.from), offsets, entries })
    }

    /// Where each bin starts, and the entries in the order of their bins.
    fn sort_into_bins(&mut self, digits: &Digits<'_>, band: Band, cut: Cut) -> Result<(Buffer, Buffer)> {
        let (plan, low) = (self.plan, self.plan.low_bits());
        let room = plan.room();
        let (bins, found) = (self.words(u64::from(room.bins) + 1)?, self.bytes(room.second_bytes())?);
        self.stream.zero(&bins)?;
        let windows = [cut.points, plan.c, plan.wide, plan.windows, plan.sets, band.from, band.to].map(Arg::U32);
        self.make_digits(digits, band, &windows, [&found, &bins])?;
        self.scan(&bins, cut.bins, cut.bins + 1)?;
        let (cursors, binned) = (self.copy_of(&bins)?, self.bytes(room.first_bytes())?);
        let tile = self.sort_tile(cut);
        let numbers = [low, tile, digits.stride, digits.base, cut.places()].map(Arg::U32);
        let entries = [mem(&found), mem(&cursors), mem(&binned), Arg::U32(room.entries() as u32)];
        let args = [&windows[..], &numbers, &entries].concat();
        let tiles = u64::from(cut.points.div_ceil(tile)) * u64::from(cut.vectors * cut.places());
        self.launch("msm_partition", tiles * u64::from(SORT_GROUP), SORT_GROUP, &args)?;
        Ok((bins, binned))
    }

    /// The digits of one vector after the other, and how many each bin has.
    fn make_digits(&mut self, digits: &Digits<'_>, band: Band, windows: &[Arg], out: [&Buffer; 2]) -> Result<()> {
        let (plan, cut) = (self.plan, self.plan.cut(digits.count, band));
        let tile = cut.points.div_ceil(DIGITS_GROUPS).next_multiple_of(SORT_GROUP).min(MAX_DIGITS_TILE);
        let items = u64::from(cut.points.div_ceil(tile)) * u64::from(SORT_GROUP);
        let chunk = digits.first..digits.first + digits.count;
        let (skip, until) = (plan.points_of(band.from, &chunk).start, plan.points_of(band.to - 1, &chunk).end);
        for (vector, Coefficients { scalars, start, form }) in digits.vectors.iter().enumerate() {
            let montgomery = u32::from(*form == Form::Montgomery);
            let vector = vector as u32;
            let first_digit = vector * cut.places() * cut.points;
            let numbers = [skip, until, montgomery, *start, plan.low_bits(), tile, vector, first_digit];
            let buffers = [*scalars, out[0], out[1], digits.too_long].map(mem);
            let args = [windows, &numbers.map(Arg::U32), &buffers].concat();
            self.launch("msm_digits", items, SORT_GROUP, &args)?;
        }
        Ok(())
    }

    /// Entries that a group sorts.
    fn sort_tile(&self, cut: Cut) -> u32 {
        let cuda = self.stream.device().info().backend == BackendKind::Cuda;
        if cuda && cut.entries() >= LONG_SORT { LONG_SORT_TILE } else { SORT_TILE }
    }

    /// The bin of each tile's first entry.
    fn tile_bins(&mut self, bins: &Buffer, cut: Cut) -> Result<Buffer> {
        let tile_bins = self.words(self.plan.room().entries().div_ceil(SORT_TILE.into()))?;
        let tile = self.sort_tile(cut);
        let tiles = cut.entries().div_ceil(tile.into());
        let args = [cut.bins, tile, tiles as u32].map(Arg::U32);
        let args = [&args[..], &[mem(bins), mem(&tile_bins)]].concat();
        self.launch("msm_tile_bins", tiles, 256, &args)?;
        Ok(tile_bins)
    }

    /// A copy to be used up.
    fn copy_of(&mut self, words: &Buffer) -> Result<Buffer> {
        let copy = self.words(words.bytes() as u64 / 4)?;
        self.stream.copy((&copy, 0), (words, 0), words.bytes())?;
        Ok(copy)
    }

    /// Exclusive prefix sums in place over `length` values, written to `out_length` places.
    fn scan(&mut self, values: &Buffer, length: u32, out_length: u32) -> Result<()> {
        let blocks = out_length.div_ceil(SCAN_BLOCK);
        let sums = self.words(u64::from(blocks))?;
        let (items, lengths) = (u64::from(blocks) * 256, [length, out_length].map(Arg::U32));
        self.launch("scan_blocks", items, 256, &[lengths[0], lengths[1], mem(values), mem(values), mem(&sums)])?;
        if blocks > 1 {
            self.scan(&sums, blocks, blocks)?;
            self.launch("scan_add", items, 256, &[lengths[1], mem(values), mem(&sums)])?;
        }
        Ok(())
    }

    /// Step 2, bucket accumulation: the matrix times the bases, added to the buckets.
    pub fn accumulate(&mut self, matrix: &Matrix, bases: &Buffer, buckets: &Buffer) -> Result<()> {
        let halved = self.halve(matrix, bases)?;
        let pieces = self.cut(matrix)?;
        let cut = matrix.cut;
        let partial = self.bytes(self.plan.room().partial_bytes())?;
        let points = halved.as_ref().unwrap_or(bases);
        let numbers = [cut.rows, self.plan.levels, matrix.first_bucket].map(Arg::U32);
        let first_bucket = numbers[2];
        let summed =
            [&pieces.offsets, &pieces.descriptions, &pieces.order, &matrix.entries, points, buckets, &partial].map(mem);
        self.launch("msm_accumulate", cut.pieces(), 128, &[&numbers[..], &summed].concat())?;
        let groups = |most: u64| most.min(MERGE_GROUPS) * u64::from(SUM_GROUP);
        let args = [&pieces.merge_counts, &pieces.units, &pieces.offsets, &pieces.descriptions, buckets, &partial];
        let args = [&[first_bucket], &args.map(mem)[..]].concat();
        self.launch("msm_merge_units", groups(cut.units()), SUM_GROUP, &args)?;
        let args = [&pieces.merge_counts, &pieces.long_rows, &pieces.offsets, buckets, &partial];
        let args = [&[first_bucket], &args.map(mem)[..]].concat();
        self.launch("msm_merge_rows", groups(cut.long_rows()), SUM_GROUP, &args)
    }

    /// Rounds of batched affine additions: what they leave of every row, or nothing if there are none.
    fn halve(&mut self, matrix: &Matrix, bases: &Buffer) -> Result<Option<Buffer>> {
        let (plan, cut) = (self.plan, matrix.cut);
        if plan.levels == 0 {
            return Ok(None);
        }
        // A coordinate is a quarter of an XYZZ point.
        let room = plan.room();
        let scratch = self.bytes(room.scratch() * self.point_bytes as u64 / 4)?;
        let list = self.words(room.slots(1))?;
        let live = self.bytes(room.live_bytes())?;
        // Two buffers take turns as input and output: those of the transposition, given back since.
        let (mut output, mut input) = (self.bytes(room.first_bytes())?, self.bytes(room.second_bytes())?);
        for level in 0..plan.levels {
            let from = if level == 0 { bases } else { &input };
            let length = self.words(1)?;
            self.stream.zero(&length)?;
            let numbers = [cut.rows, level].map(Arg::U32);
            let buffers = [&matrix.offsets, &matrix.entries, from, &output, &length, &list, &live].map(mem);
            let args = [&numbers[..], &buffers, &[Arg::U32(room.slots(1) as u32)]].concat();
            let items = cut.slots(level + 1).div_ceil(LIST_BLOCK) * u64::from(LIST_GROUP);
            self.launch("msm_list_pairs", items, LIST_GROUP, &args)?;
            let buffers = [&matrix.entries, from, &output, &length, &list, &scratch].map(mem);
            let items = cut.affine_groups() * u64::from(AFFINE_GROUP);
            self.launch("msm_add_pairs", items, AFFINE_GROUP, &[&[Arg::U32(level)], &buffers[..]].concat())?;
            std::mem::swap(&mut input, &mut output);
        }
        Ok(Some(input))
    }

    /// Rows cut into pieces, pieces ordered by length.
    fn cut(&mut self, matrix: &Matrix) -> Result<Pieces> {
        let (cut, room) = (matrix.cut, self.plan.room());
        let [rows, level, limit] = [cut.rows, self.plan.levels, cut.piece].map(Arg::U32);
        let offsets = self.words(u64::from(room.rows) + 1)?;
        let args = [rows, level, limit, mem(&matrix.offsets), mem(&offsets)];
        self.launch("msm_cut_rows", cut.rows.into(), 256, &args)?;
        self.scan(&offsets, cut.rows, cut.rows + 1)?;
        let (descriptions, order, bins) =
            (self.words(3 * room.pieces())?, self.words(room.pieces())?, self.words(BINS.into())?);
        let lists = [room.units(), room.long_rows()].map(|count| self.words(count));
        let (merge_counts, [units, long_rows]) = (self.words(2)?, lists);
        let (units, long_rows) = (units?, long_rows?);
        self.stream.zero(&bins)?;
        self.stream.zero(&merge_counts)?;
        let outputs = [&matrix.offsets, &offsets, &descriptions, &bins, &merge_counts, &units, &long_rows].map(mem);
        self.launch("msm_describe_pieces", cut.pieces(), 256, &[&[rows, level, limit], &outputs[..]].concat())?;
        self.scan(&bins, BINS, BINS)?;
        let ordered = [rows, limit, mem(&offsets), mem(&descriptions), mem(&bins), mem(&order)];
        self.launch("msm_order_pieces", cut.pieces(), 256, &ordered)?;
        Ok(Pieces { offsets, descriptions, order, merge_counts, units, long_rows })
    }

    /// Step 3, bucket reduction: for every vector [`Plan::sums`] points whose sum, weighted by [`Plan::weight`], is the
    /// result; their Jacobian coordinates are on their way to the host.
    pub fn reduce(&mut self, buckets: &Buffer) -> Result<HostBuffer> {
        let plan = self.plan;
        let segments = u64::from(plan.joined() * plan.own_sets() * plan.segments());
        let (shares, totals) = (self.points(segments)?, self.points(segments)?);
        let numbers = [segments as u32, plan.segment_bits(), plan.segment].map(Arg::U32);
        let windows = [plan.first_set, plan.end_set, plan.sets, plan.wide].map(Arg::U32);
        let args = [&numbers[..], &windows, &[mem(buckets), mem(&shares), mem(&totals)]].concat();
        match plan.has_many_segments() {
            true => self.launch("msm_reduce_many_segments", segments, 64, &args)?,
            false => self.launch("msm_reduce_segments", QUAD * segments, SUM_GROUP, &args)?,
        }
        let count = plan.joined() * plan.sums();
        let groups = u64::from(count * plan.parts());
        let parts = self.points(groups)?;
        let numbers = [plan.segment_bits(), plan.parts()].map(Arg::U32);
        let args = [&numbers[..], &[mem(&shares), mem(&totals), mem(&parts)]].concat();
        self.launch("msm_sum_bits", groups * u64::from(SUM_GROUP), SUM_GROUP, &args)?;
        // Three coordinates against the four of an XYZZ point.
        let bytes = count as usize * self.point_bytes / 4 * 3;
        let (result, sums) = (self.stream.host_buffer(bytes)?, self.stream.scratch(bytes)?);
        let args = [Arg::U32(plan.parts()), mem(&parts), mem(&sums)];
        self.launch("msm_sum_parts", u64::from(count * SUM_GROUP), SUM_GROUP, &args)?;
        self.stream.mark_end()?;
        self.stream.fetch(&result, &sums)?;
        Ok(result)
    }
}
