//! The kernels of a multi-scalar multiplication, in order, on one stream; nothing waits for the host in
//! between. A scratch buffer may be dropped once its last kernel is queued: its memory is reused in the
//! order of the stream.

use super::plan::{Cut, FAN_IN, Plan, TREE};
use crate::Result;
use crate::backend::{Arg, Buffer, HostBuffer, Stream};
use crate::program::{Program, mem};

/// Elements that a group of `scan_blocks` sums.
const SCAN_BLOCK: u32 = 2048;
/// Lengths of pieces that are told apart, `BINS` of `cl/msm_rows.cl`.
const BINS: u32 = 512;
/// Work-items that share the doublings of `msm_combine`.
const LANES: u32 = 4;

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
        let numbers = [cut.points, plan.c, plan.windows, 0, first].map(Arg::U32);
        let items = u64::from(cut.points);
        let counted = [&numbers[..4], &[mem(scalars), mem(&offsets), mem(&ranks)]].concat();
        self.launch("msm_count", items, 256, &counted)?;
        self.scan(&offsets, plan.rows(), plan.rows() + 1)?;
        let placed = [&numbers[..], &[mem(scalars), mem(&offsets), mem(&ranks), mem(&entries)]].concat();
        self.launch("msm_transpose", items, 256, &placed)?;
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
        for stride in cut.merge_strides() {
            let numbers = [rows, Arg::U32(stride), Arg::U32(FAN_IN)];
            let merged = [&pieces.offsets, &pieces.descriptions, buckets, &partial].map(mem);
            self.launch("msm_merge_pieces", cut.pieces(), 128, &[&numbers[..], &merged].concat())?;
        }
        Ok(())
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
        self.stream.zero(&bins)?;
        let described = [rows, limit, mem(&matrix.offsets), mem(&offsets), mem(&descriptions), mem(&bins)];
        self.launch("msm_describe_pieces", cut.pieces(), 256, &described)?;
        self.scan(&bins, BINS, BINS)?;
        let ordered = [rows, limit, mem(&offsets), mem(&descriptions), mem(&bins), mem(&order)];
        self.launch("msm_order_pieces", cut.pieces(), 256, &ordered)?;
        Ok(Pieces { offsets, descriptions, order })
    }

    /// Step 3, bucket reduction: each window's weighted sum of buckets.
    pub fn reduce(&mut self, buckets: &Buffer) -> Result<Buffer> {
        let plan = self.plan;
        let mut count = plan.segments();
        let mut sums = self.points(u64::from(plan.windows * count))?;
        let numbers = [plan.windows, plan.buckets(), plan.segment].map(Arg::U32);
        let args = [&numbers[..], &[mem(buckets), mem(&sums)]].concat();
        self.launch("msm_reduce_segments", u64::from(plan.windows * count), 128, &args)?;
        while count > 1 {
            let groups = count.div_ceil(TREE);
            let next = self.points(u64::from(plan.windows * groups))?;
            let args = [Arg::U32(count), Arg::U32(groups), mem(&sums), mem(&next)];
            self.launch("msm_sum_tree", u64::from(plan.windows * groups * TREE), TREE, &args)?;
            (sums, count) = (next, groups);
        }
        Ok(sums)
    }

    /// Step 4, window combination; the result's Jacobian coordinates are on their way to the host.
    pub fn combine(&mut self, sums: &Buffer) -> Result<HostBuffer> {
        // Three coordinates against the four of an XYZZ point.
        let bytes = self.point_bytes / 4 * 3;
        let (result, jacobian) = (self.stream.host_buffer(bytes)?, self.stream.allocate(bytes)?.secret());
        let numbers = [self.plan.windows, self.plan.c].map(Arg::U32);
        self.launch("msm_combine", LANES.into(), LANES, &[numbers[0], numbers[1], mem(sums), mem(&jacobian)])?;
        self.stream.mark_end()?;
        self.stream.fetch(&result, &jacobian)?;
        Ok(result)
    }
}
