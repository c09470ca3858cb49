//! Transforms vectors in host memory on one device, in two lanes that take turns, so that copies in both directions and
//! kernels overlap.
//!
//! Results are left in the vectors, or the vectors are restored.

use std::sync::Arc;

use super::out_of_core;
use super::queue_passes::VectorOnDevice;
use crate::backend::{Buffer, Device, PinnedBuffer, Stream, parallel_copy};
use crate::exec::{ExecCtx, fan_out};
use crate::field::{TransformField, as_bytes, as_bytes_mut};
use crate::ntt::Transform;
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Number of vectors in flight on a device, 2: one is uploaded while the other is downloaded.
const LANES: usize = 2;

/// Maximum bytes, 8 MiB, of a vector that keeps its old elements until its whole result is fetched, if there are
/// several vectors.
const SMALL_BYTES: usize = 8 << 20;
/// Maximum bytes, 32 MiB, of a vector that keeps its old elements until its whole result is fetched, if it is the only
/// one.
const SMALL_BYTES_ALONE: usize = 32 << 20;

/// Holds a vector that is transformed in place, and its transform.
type PipelineTask<'a, 'b, F> = (&'a mut [F], &'b Transform<F>);

/// Transforms `values` by `transforms` on one device. A vector that does not fit in device memory is tried again after
/// the others. If it does not fit alone, it is transformed in blocks ([`out_of_core`]).
pub(crate) fn transform_on_device<'a, F: TransformField>(
    device: &Arc<Device>,
    values: &'a mut [&mut [F]],
    transforms: &[Transform<F>],
    ctx: ExecCtx<'_>,
) -> Result<Vec<TransformedVector<'a, F>>> {
    let mut jobs: [Vec<PipelineTask<'a, '_, F>>; LANES] = Default::default();
    for (number, (slice, transform)) in values.iter_mut().zip(transforms).enumerate() {
        jobs[number % LANES].push((&mut **slice, transform));
    }
    let small = if transforms.len() == 1 { SMALL_BYTES_ALONE } else { SMALL_BYTES };
    let lanes = jobs.into_iter().filter(|jobs| !jobs.is_empty());
    let lanes = fan_out("ntt", lanes, |jobs| run_lane(device, small, jobs, ctx));
    let (mut done, mut left) = (Vec::new(), Vec::new());
    for lane in lanes {
        let (part, no_room) = lane?;
        done.extend(part);
        left.extend(no_room);
    }
    for job in left {
        let (part, no_room) = run_lane(device, small, vec![job], ctx)?;
        done.extend(part);
        for (slice, transform) in no_room {
            let result = out_of_core::transform(device, slice, transform, ctx)?;
            done.push(TransformedVector::Beside(slice, result));
        }
    }
    Ok(done)
}

/// Holds a lane's results, and the tasks for which the device had not enough memory.
type LaneOutcome<'a, 'b, F> = (Vec<TransformedVector<'a, F>>, Vec<PipelineTask<'a, 'b, F>>);

/// Transforms the vectors of `jobs` one after another. A vector of at most `small` bytes keeps its old elements until its
/// whole result is fetched. Returns the results, and the tasks for which the device had not enough memory.
fn run_lane<'a, 'b, F: TransformField>(
    device: &Arc<Device>,
    small: usize,
    jobs: Vec<PipelineTask<'a, 'b, F>>,
    ctx: ExecCtx<'_>,
) -> Result<LaneOutcome<'a, 'b, F>> {
    let mut stream = device.stream()?;
    let (mut done, mut no_room) = (Vec::new(), Vec::new());
    for (slice, transform) in jobs {
        ctx.check_abort()?;
        let vector = VectorOnDevice::allocate(&mut stream, transform, slice.len());
        let buffers = vector.and_then(|vector| Ok((vector, stream.allocate_pinned(size_of_val(slice))?)));
        match buffers {
            Ok(buffers) if size_of_val(slice) <= small => {
                done.push(transform_to_staging(&mut stream, slice, buffers, ctx)?);
            }
            Ok(buffers) => done.push(transform_with_rollback(&mut stream, slice, buffers, ctx)?),
            Err(Error::OutOfMemory { .. }) => no_room.push((slice, transform)),
            Err(error) => return Err(error),
        }
    }
    ctx.record([&stream]);
    Ok((done, no_room))
}

/// Transforms `slice` on the device. The slice keeps its old elements until the result, which comes to the buffer
/// `host`, is committed. So no copy of them is needed.
fn transform_to_staging<'a, F: TransformField>(
    stream: &mut Stream,
    slice: &'a mut [F],
    (vector, mut host): (VectorOnDevice, PinnedBuffer),
    ctx: ExecCtx<'_>,
) -> Result<TransformedVector<'a, F>> {
    stream.upload(&vector.data, as_bytes(slice))?;
    vector.enqueue_timed(stream)?;
    stream.copy_to_pinned(&mut host, &vector.data)?;
    stream.zeroize_staging();
    ctx.synchronize(stream)?;
    Ok(TransformedVector::Fetched(slice, host))
}

/// Transforms `slice` on the device. The slice is overwritten while the result is being fetched, so the buffer `host`
/// keeps a copy of its old elements.
fn transform_with_rollback<'a, F: TransformField>(
    stream: &mut Stream,
    slice: &'a mut [F],
    (vector, mut host): (VectorOnDevice, PinnedBuffer),
    ctx: ExecCtx<'_>,
) -> Result<TransformedVector<'a, F>> {
    stream.upload_via_pinned(&vector.data, &mut host, as_bytes(slice), ctx.abort())?;
    vector.enqueue_timed(stream)?;
    if ctx.is_abortable() {
        ctx.synchronize(stream)?;
    }
    let guard = RollbackGuard::fetch(stream, &vector.data, (slice, host), ctx)?;
    stream.synchronize(None)?;
    Ok(TransformedVector::InPlace(guard))
}

/// Holds a vector in host memory and its computed transform. If it is dropped without [`Self::commit`], the vector
/// keeps or regains its old elements.
pub(crate) enum TransformedVector<'a, F: TransformField> {
    /// The vector has the result; the guard's buffer has the old elements.
    InPlace(RollbackGuard<'a, F>),
    /// The vector has its old elements; the pinned buffer has the result.
    Fetched(&'a mut [F], PinnedBuffer),
    /// The vector has its old elements; the second vector has the result.
    Beside(&'a mut [F], SecretVec<F>),
}

impl<F: TransformField> TransformedVector<'_, F> {
    /// Leaves the result in the vector, and discards the old elements.
    pub(super) fn commit(self) {
        // SAFETY: `ntt_row_pass` leaves reduced elements in Montgomery form.
        unsafe {
            match self {
                Self::InPlace(vector) => vector.commit(),
                Self::Fetched(slice, result) => result.drain_into(as_bytes_mut(slice)),
                Self::Beside(slice, result) => parallel_copy(as_bytes_mut(slice), as_bytes(&result)),
            }
        }
    }
}

/// Holds a vector that a result is fetched into, and a copy of its old elements. It restores the old elements when
/// dropped, unless it was committed.
pub(crate) struct RollbackGuard<'a, F: TransformField> {
    slice: &'a mut [F],
    kept: PinnedBuffer,
    committed: bool,
}

impl<'a, F: TransformField> RollbackGuard<'a, F> {
    /// Copies `result` from the device to `slice`. `kept` is a copy of the old elements of `slice`, which are restored
    /// if the copy fails or `ctx` aborts it.
    pub(super) fn fetch(
        stream: &mut Stream,
        result: &Buffer,
        (slice, kept): (&'a mut [F], PinnedBuffer),
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        let vector = Self { slice, kept, committed: false };
        // SAFETY: `ntt_row_pass` leaves reduced elements in Montgomery form.
        stream.download_abortable(unsafe { as_bytes_mut(vector.slice) }, result, ctx.abort())?;
        Ok(vector)
    }

    fn commit(mut self) {
        self.committed = true;
    }
}

impl<F: TransformField> Drop for RollbackGuard<'_, F> {
    fn drop(&mut self) {
        if !self.committed {
            // SAFETY: the restored bytes are the vector's own elements.
            parallel_copy(unsafe { as_bytes_mut(self.slice) }, self.kept.as_slice());
        }
    }
}
