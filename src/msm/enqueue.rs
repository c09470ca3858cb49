//! The kernels of one chunk, in order, on one stream; nothing waits for the host in between.

use super::plan::{FAN_IN, Plan, TREE};
use crate::backend::{Arg, Buffer, HostBuffer, Stream};
use crate::curve::MsmCurve;
use crate::program::{Program, mem};
use crate::Result;

/// Elements that a group of `scan_blocks` sums.
const SCAN_BLOCK: u32 = 2048;
/// Work-items that share the doublings of `msm_combine`.
const LANES: u32 = 4;

/// The running sum of a lane's chunks, on the device and, once the stream has been waited for, on the host.
pub(super) struct Accumulator {
    total: Buffer,
    result: HostBuffer,
    /// Kept until the stream has been waited for.
    _scratch: Vec<Buffer>,
}

impl Accumulator {
    /// The sum's Jacobian coordinates as the device has them.
    pub fn jacobian(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.result.bytes()];
        self.result.copy_to(&mut bytes);
        bytes
    }
}

/// One chunk's stream, program and plan.
struct Chunk<'a> {
    stream: &'a mut Stream,
    program: Program,
    plan: &'a Plan,
    /// Buffers that must live until the stream has run empty.
    scratch: Vec<Buffer>,
}

/// Queues all of Σ scalarᵢ·baseᵢ, added to what the lane has already.
pub(super) fn enqueue<C: MsmCurve>(
    stream: &mut Stream,
    program: Program,
    plan: &Plan,
    bases: &[C],
    scalars: &[[u8; 32]],
    previous: Option<Accumulator>,
) -> Result<Accumulator> {
    let point_bytes = 2 * C::AFFINE_BYTES;
    let scalars_on_device = stream.allocate(size_of_val(scalars))?.secret();
    stream.upload(&scalars_on_device, scalars.as_flattened())?;
    let mut chunk = Chunk { stream, program, plan, scratch: Vec::new() };
    let matrix = chunk.transpose(scalars_on_device)?;
    // The matrix is made while the bases are still on their way to the staging ring.
    let bases_on_device = chunk.stream.allocate(bases.len() * C::AFFINE_BYTES)?;
    chunk.stream.upload(&bases_on_device, &C::to_device(bases))?;
    chunk.stream.mark_start()?;
    let pieces = chunk.cut(&matrix, point_bytes)?;
    chunk.accumulate(&matrix, &pieces, bases_on_device)?;
    let sums = chunk.reduce(&pieces, point_bytes)?;
    let accumulator = chunk.combine::<C>(&sums, previous)?;
    let mut scratch = chunk.scratch;
    scratch.extend([matrix.offsets, matrix.entries, pieces.offsets, pieces.pieces, pieces.order, pieces.partial, sums]);
    Ok(Accumulator { _scratch: scratch, ..accumulator })
}

/// The transposed digits: a CSR matrix with a row per bucket of every window.
struct Matrix {
    offsets: Buffer,
    entries: Buffer,
}

/// The matrix's rows cut for balance, and their sums.
struct Pieces {
    offsets: Buffer,
    pieces: Buffer,
    order: Buffer,
    partial: Buffer,
}

impl Chunk<'_> {
    fn launch(&mut self, kernel: &str, items: u64, group: u32, args: &[Arg]) -> Result<()> {
        // SAFETY: every caller below passes the arguments that the kernel declares in `cl/`, with
        // buffers sized by the plan, whose bounds the kernels keep to.
        unsafe { self.program.launch(self.stream, kernel, items, group, args) }
    }

    fn words(&self, count: u64) -> Result<Buffer> {
        Ok(self.stream.allocate(4 * count as usize)?.secret())
    }

    /// Step 1: digits counted, offsets from prefix sums, entries put in their rows.
    fn transpose(&mut self, scalars: Buffer) -> Result<Matrix> {
        let plan = *self.plan;
        let (offsets, ranks) = (self.words(u64::from(plan.rows()) + 1)?, self.words(plan.entries())?);
        let entries = self.words(plan.entries())?;
        self.stream.mark_start()?;
        self.stream.zero(&offsets)?;
        let numbers = [plan.points, plan.c, plan.windows, 0].map(Arg::U32);
        let items = u64::from(plan.points);
        let counted = [&numbers[..], &[mem(&scalars), mem(&offsets), mem(&ranks)]].concat();
        self.launch("msm_count", items, 256, &counted)?;
        self.scan(&offsets, plan.rows(), plan.rows() + 1)?;
        let placed = [&numbers[..], &[mem(&scalars), mem(&offsets), mem(&ranks), mem(&entries)]].concat();
        self.launch("msm_transpose", items, 256, &placed)?;
        self.stream.mark_end()?;
        self.scratch.extend([scalars, ranks]);
        Ok(Matrix { offsets, entries })
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
        self.scratch.push(sums);
        Ok(())
    }

    /// Step 2: rows cut into pieces, pieces ordered by length.
    fn cut(&mut self, matrix: &Matrix, point_bytes: usize) -> Result<Pieces> {
        let plan = *self.plan;
        let [rows, limit] = [plan.rows(), plan.piece].map(Arg::U32);
        let offsets = self.words(u64::from(plan.rows()) + 1)?;
        self.launch("msm_cut_rows", u64::from(plan.rows()), 256, &[rows, limit, mem(&matrix.offsets), mem(&offsets)])?;
        self.scan(&offsets, plan.rows(), plan.rows() + 1)?;
        let (pieces, order, bins) = (self.words(4 * plan.pieces())?, self.words(plan.pieces())?, self.words(512)?);
        self.stream.zero(&bins)?;
        let described = [rows, limit, mem(&matrix.offsets), mem(&offsets), mem(&pieces), mem(&bins)];
        self.launch("msm_describe_pieces", plan.pieces(), 256, &described)?;
        self.scan(&bins, 512, 512)?;
        let ordered = [rows, limit, mem(&offsets), mem(&pieces), mem(&bins), mem(&order)];
        self.launch("msm_order_pieces", plan.pieces(), 256, &ordered)?;
        self.scratch.push(bins);
        let partial = self.stream.allocate(plan.pieces() as usize * point_bytes)?.secret();
        Ok(Pieces { offsets, pieces, order, partial })
    }

    /// Step 3: bucket accumulation, then the pieces of each row merged.
    fn accumulate(&mut self, matrix: &Matrix, pieces: &Pieces, bases: Buffer) -> Result<()> {
        let plan = *self.plan;
        let rows = Arg::U32(plan.rows());
        let summed = [&pieces.offsets, &pieces.pieces, &pieces.order, &matrix.entries, &bases, &pieces.partial].map(mem);
        self.launch("msm_accumulate", plan.pieces(), 128, &[&[rows], &summed[..]].concat())?;
        for stride in plan.merge_strides() {
            let numbers = [rows, Arg::U32(stride), Arg::U32(FAN_IN)];
            let merged = [&pieces.offsets, &pieces.pieces, &pieces.partial].map(mem);
            self.launch("msm_merge_pieces", plan.pieces(), 128, &[&numbers[..], &merged].concat())?;
        }
        self.scratch.push(bases);
        Ok(())
    }

    /// Step 4: each window's weighted sum of buckets.
    fn reduce(&mut self, pieces: &Pieces, point_bytes: usize) -> Result<Buffer> {
        let plan = *self.plan;
        let mut count = plan.segments();
        let mut sums = self.stream.allocate((plan.windows * count) as usize * point_bytes)?.secret();
        let numbers = [plan.windows, plan.buckets(), plan.segment].map(Arg::U32);
        let args = [&numbers[..], &[mem(&pieces.offsets), mem(&pieces.partial), mem(&sums)]].concat();
        self.launch("msm_reduce_segments", u64::from(plan.windows * count), 128, &args)?;
        while count > 1 {
            let groups = count.div_ceil(TREE);
            let next = self.stream.allocate((plan.windows * groups) as usize * point_bytes)?.secret();
            let args = [Arg::U32(count), Arg::U32(groups), mem(&sums), mem(&next)];
            self.launch("msm_sum_tree", u64::from(plan.windows * groups * TREE), TREE, &args)?;
            self.scratch.push(std::mem::replace(&mut sums, next));
            count = groups;
        }
        Ok(sums)
    }

    /// Step 5: windows combined, the lane's earlier chunks added, the result sent to the host.
    fn combine<C: MsmCurve>(&mut self, sums: &Buffer, previous: Option<Accumulator>) -> Result<Accumulator> {
        let jacobian_bytes = 3 * C::AFFINE_BYTES / 2;
        let keep = u32::from(previous.is_some());
        let (total, result) = match previous {
            Some(Accumulator { total, result, .. }) => (total, result),
            None => (self.stream.allocate(2 * C::AFFINE_BYTES)?.secret(), self.stream.host_buffer(jacobian_bytes)?),
        };
        let jacobian = self.stream.allocate(jacobian_bytes)?.secret();
        let numbers = [self.plan.windows, self.plan.c, keep].map(Arg::U32);
        let args = [&numbers[..], &[mem(sums), mem(&total), mem(&jacobian)]].concat();
        self.launch("msm_combine", u64::from(LANES), LANES, &args)?;
        self.stream.mark_end()?;
        self.stream.fetch(&result, &jacobian)?;
        self.scratch.push(jacobian);
        Ok(Accumulator { total, result, _scratch: Vec::new() })
    }
}
