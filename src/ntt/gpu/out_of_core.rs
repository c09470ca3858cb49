//! Transforms vectors that are larger than a device's free memory, through host memory.
//!
//! With n = P·Q, i = i₁·Q + i₂ and j = j₁ + P·j₂, shifts g and s, scale c:
//!
//! ```text
//! X_j = c·s^{P·j₂} · Σ_{i₂} g^{i₂} · ω^{P·i₂·j₂} · ω^{i₂·j₁} · (s^{j₁} · Σ_{i₁} x_i · g^{Q·i₁} · ω^{Q·i₁·j₁})
//! ```
//!
//! x is a matrix of P rows. The first pass transforms its columns, multiplies by ω^{i₂·j₁}, and leaves each column as a
//! row of a second matrix, of Q rows. The second pass transforms that matrix's columns in place. Each pass takes as
//! many columns at once as half of the free memory holds, with two blocks in flight. The host holds the result and, if
//! an order is bit-reversed, a copy.

use std::sync::Arc;

use rayon::prelude::*;

use super::queue_passes::{DeviceTransform, VectorLayout, launch, multiply_by_powers};
use crate::backend::{Buffer, Device, Stream};
use crate::checked_size::byte_len;
use crate::exec::{ExecCtx, run_pipeline};
use crate::field::{HostVector, TransformField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::ntt::{FAMILY, Transpose};
use crate::module_launcher::KernelModule;
use crate::ntt::cpu::copy_bit_reversed;
use crate::ntt::{Order, Transform};
use crate::rayon_waits::install;
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Number of blocks in flight, 2, each on its own stream.
const SLOTS: usize = 2;
/// Number of a block's buffers on the device, 2.
const BUFFERS: usize = 2;
/// Maximum binary logarithm of a block's elements, 23: larger blocks take more pinned memory and gain nothing.
const MAX_BLOCK_LOG: u32 = 23;
/// Minimum number of elements that one rayon task copies, 4096.
const MIN_PIECE: usize = 1 << 12;

/// Transforms `values`, which stay unchanged, on `device`, block by block. Returns the result.
pub(crate) fn transform<F: TransformField>(
    device: &Arc<Device>,
    values: &[F],
    transform: &Transform<F>,
    ctx: ExecCtx<'_>,
) -> Result<SecretVec<F>> {
    let copy = (transform.input == Order::BitReversed).then(|| SecretVec(copy_bit_reversed(values)));
    let [first, second] = Pass::split_transform(transform);
    let mut result = SecretVec(vec![F::ZERO; values.len()]);
    first.run(device, Some(copy.as_deref().unwrap_or(values)), &mut result, ctx)?;
    second.run(device, None, &mut result, ctx)?;
    Ok(if transform.order == Order::BitReversed { SecretVec(copy_bit_reversed(&result)) } else { result })
}

/// Describes one of the two passes, which transforms all columns of a matrix in host memory.
struct Pass<F> {
    transform: Transform<F>,
    width_log: u32,
    /// Base ω of the twiddles, in the first pass: ω^(i₂·j₁) multiplies element j₁ of column i₂, and columns become
    /// rows. `None` in the second pass.
    twist: Option<F>,
}

impl<F: TransformField> Pass<F> {
    fn split_transform(whole: &Transform<F>) -> [Self; 2] {
        let (p, q) = (whole.log_n / 2, whole.log_n - whole.log_n / 2);
        let squares = |base: F, count: u32| (0..count).fold(base, |power, _| power.square());
        let first = Transform {
            shift_in: whole.shift_in.map(|shift| squares(shift, q)),
            shift_out: whole.shift_out,
            tables: whole.tables,
            ..Transform::new(p, squares(whole.omega, q))
        };
        let second = Transform {
            shift_in: whole.shift_in,
            shift_out: whole.shift_out.map(|shift| squares(shift, p)),
            scale: whole.scale,
            tables: whole.tables,
            ..Transform::new(q, squares(whole.omega, p))
        };
        [
            Self { transform: first, width_log: q, twist: Some(whole.omega) },
            Self { transform: second, width_log: p, twist: None },
        ]
    }

    fn height_log(&self) -> u32 {
        self.transform.log_n
    }

    /// Returns the binary logarithm of the number of columns of a block. Returns an error if no column fits in half of
    /// the free device memory.
    fn columns_per_block_log(&self, device: &Device) -> Result<u32> {
        let column = (size_of::<F>() as u64) << self.height_log();
        let available = device.free_memory()? / 2;
        let fit = available / (column * (SLOTS * BUFFERS) as u64);
        let most = MAX_BLOCK_LOG.saturating_sub(self.height_log()).min(self.width_log);
        let requested = column * (SLOTS * BUFFERS) as u64;
        let short = || Error::OutOfMemory { device: device.info().name.clone(), requested, available };
        fit.checked_ilog2().map(|log| log.min(most)).ok_or_else(short)
    }

    /// Transforms the columns of `input` into `matrix` on `device`, unless `ctx` aborts the pass. If `input` is
    /// `None`, transforms those of `matrix` in place.
    fn run(&self, device: &Arc<Device>, input: Option<&[F]>, matrix: &mut [F], ctx: ExecCtx<'_>) -> Result<()> {
        let block_log = self.columns_per_block_log(device)?;
        let layout = VectorLayout { vectors: 1 << block_log, stride: 1 << self.height_log() };
        let slots = (0..SLOTS).map(|_| BlockSlot::new(device, 1 << (block_log + self.height_log())));
        let mut slots = slots.collect::<Result<Vec<_>>>()?;
        let queue = DeviceTransform::new(&mut slots[0].stream, &self.transform, layout, 0)?;
        let (columns, width) = (1usize << block_log, 1 << self.width_log);
        let wait = |slot: &mut BlockSlot<F>| ctx.synchronize(&mut slot.stream);
        let slots = run_pipeline(slots, (0..width).step_by(columns), ctx, wait, |slot, finished, next| {
            if let Some(first) = finished {
                self.store_columns(&slot.host, first, columns, matrix);
            }
            if let Some(first) = next {
                self.gather_columns(input.unwrap_or(matrix), first, columns, &mut slot.host);
                self.queue_block(slot, &queue, layout, first)?;
            }
            Ok(next)
        })?;
        ctx.record(slots.iter().map(|slot| &slot.stream));
        Ok(())
    }

    /// Copies the `count` columns of `matrix` from column `first` on to `block`, row by row.
    fn gather_columns(&self, matrix: &[F], first: usize, count: usize, block: &mut [F]) {
        let rows = block.par_chunks_mut(count).enumerate().with_min_len(MIN_PIECE.div_ceil(count));
        install(|| rows.for_each(|(row, to)| to.copy_from_slice(&matrix[(row << self.width_log) + first..][..count])));
    }

    /// Copies the `count` transformed columns in `block` to `matrix`. In the first pass, they become its rows from row
    /// `first` on. In the second pass, they become its columns from column `first` on.
    fn store_columns(&self, block: &[F], first: usize, count: usize, matrix: &mut [F]) {
        if self.twist.is_some() {
            let rows = &mut matrix[first << self.height_log()..][..block.len()];
            let pieces = rows.par_chunks_mut(MIN_PIECE).zip(block.par_chunks(MIN_PIECE));
            return install(|| pieces.for_each(|(to, from)| to.copy_from_slice(from)));
        }
        let rows = matrix.par_chunks_mut(1 << self.width_log).zip(block.par_chunks(count));
        let rows = rows.with_min_len(MIN_PIECE.div_ceil(count));
        install(|| rows.for_each(|(row, from)| row[first..first + count].copy_from_slice(from)));
    }

    fn queue_block(
        &self,
        slot: &mut BlockSlot<F>,
        queue: &DeviceTransform,
        layout: VectorLayout,
        first: usize,
    ) -> Result<()> {
        let BlockSlot { stream, host, buffers: [data, other] } = slot;
        let block_log = layout.vectors.trailing_zeros();
        stream.copy_from_pinned(other, host.buffer())?;
        stream.begin_timing()?;
        enqueue_transpose::<F>(stream, other, data, self.height_log(), block_log)?;
        queue.enqueue(stream, data, Some(other))?;
        let result = if let Some(omega) = self.twist {
            let exponent_log = self.width_log + self.height_log();
            multiply_by_powers(stream, (data, layout, self.height_log()), (omega, exponent_log), (first as u32, 1))?;
            data
        } else {
            enqueue_transpose::<F>(stream, data, other, block_log, self.height_log())?;
            other
        };
        stream.end_timing()?;
        stream.copy_to_pinned(host.buffer_mut(), result)
    }
}

/// Holds the stream, the host buffer and the device buffers of one block in flight.
struct BlockSlot<F> {
    // Dropped first, because that waits for the copies.
    stream: Stream,
    host: HostVector<F>,
    buffers: [Buffer; BUFFERS],
}

impl<F: TransformField> BlockSlot<F> {
    fn new(device: &Arc<Device>, elements: usize) -> Result<Self> {
        let stream = device.stream()?;
        let host = HostVector::new(&stream, elements)?;
        let bytes = byte_len::<F>("ntt", elements)?;
        let buffers = [stream.allocate(bytes)?.mark_secret(), stream.allocate(bytes)?.mark_secret()];
        Ok(Self { stream, host, buffers })
    }
}

/// Queues the transposition of the matrix `from`, of 2^rows_log rows and 2^columns_log columns, to `to`.
fn enqueue_transpose<F: TransformField>(
    stream: &mut Stream,
    from: &Buffer,
    to: &Buffer,
    rows_log: u32,
    columns_log: u32,
) -> Result<()> {
    let transpose = Transpose { from: In::new(from), to: Out::new(to), rows_log, columns_log };
    launch(KernelModule::find(&FAMILY, F::NAME)?, stream, 1 << (rows_log + columns_log), transpose)
}
