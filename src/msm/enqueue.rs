//! The kernels of a multi-scalar multiplication, in order, on one stream; nothing waits for the host in
//! between. A scratch buffer may be dropped once its last kernel is queued: its memory is reused in the
//! order of the stream.

use super::plan::{Cut, Plan};
use crate::Result;
use crate::backend::{Arg, Buffer, HostBuffer, Stream};
use crate::program::{Program, mem};

/// Elements that a group of `scan_blocks` sums.
const SCAN_BLOCK: u32 = 2048;
/// Lengths of pieces that are told apart, `BINS` of `cl/msm_rows.cl`.
const BINS: u32 = 512;
/// Scalars are not in Montgomery form.
const CANONICAL: u32 = 0;
/// Work-items of a group that sums points, `SUM_GROUP` of `cl/quad.cl`, and of a point's quad in it.
const SUM_GROUP: u32 = 64;
const QUAD: u64 = 4;
/// Groups that merge pieces: they take turns, for only the device knows how much there is to merge.
const MERGE_GROUPS: u64 = 2048;

/// The transposed digits of a chunk: a CSR matrix with a row per bucket of every window.
pub(super) struct Matrix {
    cut: Cut,
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
        Ok(self.stream.allocate(4 * count as usize)?.secret())
    }

    fn points(&self, count: u64) -> Result<Buffer> {
        Ok(self.stream.allocate(count as usize * self.point_bytes)?.secret())
    }

    /// All windows' buckets, empty: zero bytes are infinity.
    pub fn buckets(&mut self) -> Result<Buffer> {
        let buckets = self.points(u64::from(self.plan.rows()))?;
        self.stream.zero(&buckets)?;
        Ok(buckets)
    }

    /// Step 1, a chunk's digits transposed: counted, offsets from prefix sums, entries put in their rows.
    /// The chunk's scalars belong to bases `first` and following.
    pub fn transpose(&mut self, scalars: &Buffer, points: usize, first: u32) -> Result<Matrix> {
        let (plan, cut) = (self.plan, self.plan.cut(points));
        let (offsets, ranks) = (self.words(u64::from(plan.rows()) + 1)?, self.words(cut.entries())?);
        let entries = self.words(cut.entries())?;
        self.stream.zero(&offsets)?;
        let numbers = [cut.points, plan.c, plan.windows, CANONICAL].map(Arg::U32);
        let items = u64::from(cut.points);
        let counted = [&numbers[..], &[mem(scalars), mem(&offsets), mem(&ranks)]].concat();
        self.launch("msm_count", items, 256, &counted)?;
        self.scan(&offsets, plan.rows(), plan.rows() + 1)?;
        for from in (0..plan.windows).step_by(cut.windows_at_once() as usize) {
            let to = plan.windows.min(from + cut.windows_at_once());
            let numbers = [cut.points, plan.c, from, to, CANONICAL, first].map(Arg::U32);
            let placed = [&numbers[..], &[mem(scalars), mem(&offsets), mem(&ranks), mem(&entries)]].concat();
            self.launch("msm_transpose", items, 256, &placed)?;
        }
        Ok(Matrix { cut, offsets, entries })
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
        let pieces = self.cut(matrix)?;
        let (cut, rows) = (matrix.cut, Arg::U32(self.plan.rows()));
        let partial = self.points(cut.pieces())?;
        let summed =
            [&pieces.offsets, &pieces.descriptions, &pieces.order, &matrix.entries, bases, buckets, &partial].map(mem);
        self.launch("msm_accumulate", cut.pieces(), 128, &[&[rows], &summed[..]].concat())?;
        let groups = |most: u64| most.min(MERGE_GROUPS) * u64::from(SUM_GROUP);
        let args = [&pieces.merge_counts, &pieces.units, &pieces.offsets, &pieces.descriptions, buckets, &partial];
        self.launch("msm_merge_units", groups(cut.units()), SUM_GROUP, &args.map(mem))?;
        let args = [&pieces.merge_counts, &pieces.long_rows, &pieces.offsets, buckets, &partial];
        self.launch("msm_merge_rows", groups(cut.long_rows()), SUM_GROUP, &args.map(mem))
    }

    /// Rows cut into pieces, pieces ordered by length.
    fn cut(&mut self, matrix: &Matrix) -> Result<Pieces> {
        let (row_count, cut) = (self.plan.rows(), matrix.cut);
        let [rows, limit] = [row_count, cut.piece].map(Arg::U32);
        let offsets = self.words(u64::from(row_count) + 1)?;
        self.launch("msm_cut_rows", u64::from(row_count), 256, &[rows, limit, mem(&matrix.offsets), mem(&offsets)])?;
        self.scan(&offsets, row_count, row_count + 1)?;
        let (descriptions, order, bins) =
            (self.words(3 * cut.pieces())?, self.words(cut.pieces())?, self.words(BINS.into())?);
        let (merge_counts, units, long_rows) = (self.words(2)?, self.words(cut.units())?, self.words(cut.long_rows())?);
        self.stream.zero(&bins)?;
        self.stream.zero(&merge_counts)?;
        let outputs = [&matrix.offsets, &offsets, &descriptions, &bins, &merge_counts, &units, &long_rows].map(mem);
        self.launch("msm_describe_pieces", cut.pieces(), 256, &[&[rows, limit], &outputs[..]].concat())?;
        self.scan(&bins, BINS, BINS)?;
        let ordered = [rows, limit, mem(&offsets), mem(&descriptions), mem(&bins), mem(&order)];
        self.launch("msm_order_pieces", cut.pieces(), 256, &ordered)?;
        Ok(Pieces { offsets, descriptions, order, merge_counts, units, long_rows })
    }

    /// Step 3, bucket reduction: [`Plan::sums`] points whose sum, weighted by [`Plan::weight`], is the
    /// result; their Jacobian coordinates are on their way to the host.
    pub fn reduce(&mut self, buckets: &Buffer) -> Result<HostBuffer> {
        let plan = self.plan;
        let segments = u64::from(plan.windows * plan.segments());
        let (shares, totals) = (self.points(segments)?, self.points(segments)?);
        let numbers = [segments as u32, plan.segment].map(Arg::U32);
        let args = [&numbers[..], &[mem(buckets), mem(&shares), mem(&totals)]].concat();
        self.launch("msm_reduce_segments", QUAD * segments, SUM_GROUP, &args)?;
        let groups = u64::from(plan.sums() * plan.parts());
        let parts = self.points(groups)?;
        let numbers = [plan.segment_bits(), plan.parts()].map(Arg::U32);
        let args = [&numbers[..], &[mem(&shares), mem(&totals), mem(&parts)]].concat();
        self.launch("msm_sum_bits", groups * u64::from(SUM_GROUP), SUM_GROUP, &args)?;
        // Three coordinates against the four of an XYZZ point.
        let bytes = plan.sums() as usize * self.point_bytes / 4 * 3;
        let (result, sums) = (self.stream.host_buffer(bytes)?, self.stream.allocate(bytes)?.secret());
        let args = [Arg::U32(plan.parts()), mem(&parts), mem(&sums)];
        self.launch("msm_sum_parts", u64::from(plan.sums() * SUM_GROUP), SUM_GROUP, &args)?;
        self.stream.mark_end()?;
        self.stream.fetch(&result, &sums)?;
        Ok(result)
    }
}
