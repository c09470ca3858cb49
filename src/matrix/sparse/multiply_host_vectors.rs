//! Computes products of host slices on devices. Vectors of a batch are spread over them, and results held back until
//! all are there.

use std::sync::Arc;

use super::csr_on_device::{CsrOnDevice, DeviceVectors};
use crate::Result;
use crate::backend::{Buffer, PinnedBuffer, Stream};
use crate::checked_size::byte_len;
use crate::exec::{ExecCtx, fan_out, run_pipeline};
use crate::field::{NttField, as_bytes, as_bytes_mut};

/// Computes A·x for each vector of `x`, into the slice of `y` with the same index. `matrices` holds A on several
/// devices, over which the vectors are spread. Writes `y` only after every result has arrived.
pub(super) fn multiply<F: NttField>(
    matrices: &[Arc<CsrOnDevice<F>>],
    x: &[&[F]],
    y: &mut [&mut [F]],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let share = x.len().div_ceil(matrices.len().max(1)).max(1);
    let rows = y.first().map_or(0, |y| y.len());
    let shares = matrices.iter().zip(x.chunks(share));
    let parts = fan_out("csr", shares, |(matrix, x)| multiply_on_device(matrix, x, rows, ctx));
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    for (y, result) in y.iter_mut().zip(parts.into_iter().flatten()) {
        // SAFETY: the kernels leave reduced elements in Montgomery form.
        result.drain_into(unsafe { as_bytes_mut(y) });
    }
    Ok(())
}

/// Holds the host buffer for the result of a queued product, and the device buffers of x and y that it uses.
type QueuedProduct = (PinnedBuffer, [Buffer; 2]);

/// Computes A·x for each vector of `x` on the device of `matrix`, and returns the results in order. Two products are in
/// flight at a time, so that copies in both directions overlap kernels.
fn multiply_on_device<F: NttField>(
    matrix: &CsrOnDevice<F>,
    x: &[&[F]],
    rows: usize,
    ctx: ExecCtx<'_>,
) -> Result<Vec<PinnedBuffer>> {
    let mut results = Vec::with_capacity(x.len());
    let streams = (0..x.len().min(2)).map(|_| matrix.device().stream()).collect::<Result<_>>()?;
    let wait = |stream: &mut Stream| ctx.synchronize(stream);
    let streams = run_pipeline(streams, x, ctx, wait, |stream, finished: Option<QueuedProduct>, next| {
        results.extend(finished.map(|(result, _)| result));
        next.map(|x| enqueue(matrix, stream, x, rows)).transpose()
    })?;
    ctx.record(&streams);
    Ok(results)
}

fn enqueue<F: NttField>(matrix: &CsrOnDevice<F>, stream: &mut Stream, x: &[F], rows: usize) -> Result<QueuedProduct> {
    let bytes = byte_len::<F>("csr", rows)?;
    let buffers = [stream.allocate(size_of_val(x))?.mark_secret(), stream.allocate(bytes)?.mark_secret()];
    let mut result = stream.allocate_pinned(bytes)?;
    stream.upload(&buffers[0], as_bytes(x))?;
    stream.begin_timing()?;
    matrix.enqueue(stream, DeviceVectors::one(&buffers[0]), DeviceVectors::one(&buffers[1]), 1)?;
    stream.end_timing()?;
    if bytes > 0 {
        stream.copy_to_pinned(&mut result, &buffers[1])?;
    }
    Ok((result, buffers))
}
