//! Transforms vectors in host memory on one device, in two lanes that take turns, so that copies in both directions and
//! kernels overlap.
//!
//! Results are left in the vectors, or the vectors are restored.

use std::sync::Arc;

use super::out_of_core;
use super::queue_passes::{DeviceTransform, VectorLayout};
use crate::backend::{Buffer, Device, PinnedBuffer, Stream, parallel_copy};
use crate::exec::{ExecCtx, fan_out};
use crate::field::{SecretVec, TransformField, as_bytes, as_bytes_mut};
use crate::ntt::Transform;
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
    let lanes = fan_out("ntt", lanes, |jobs| PipelineLane::new(device, small)?.run(jobs, ctx));
    let (mut done, mut left) = (Vec::new(), Vec::new());
    for lane in lanes {
        let (part, no_room) = lane?;
        done.extend(part);
        left.extend(no_room);
    }
    for job in left {
        let (part, no_room) = PipelineLane::new(device, small)?.run(vec![job], ctx)?;
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

/// Holds a stream that uploads, transforms and downloads one vector at a time.
struct PipelineLane {
    stream: Stream,
    /// Maximum bytes of a vector that keeps its old elements until its whole result is fetched.
    small: usize,
}

/// Holds a vector's transform, its one or two buffers on the device, and a pinned buffer of its size on the host.
struct LaneBuffers {
    queue: DeviceTransform,
    data: Buffer,
    other: Option<Buffer>,
    host: PinnedBuffer,
}

impl LaneBuffers {
    fn enqueue_transform(&self, stream: &mut Stream) -> Result<()> {
        stream.begin_timing()?;
        self.queue.enqueue(stream, &self.data, self.other.as_ref())?;
        stream.end_timing()
    }
}

impl PipelineLane {
    fn new(device: &Arc<Device>, small: usize) -> Result<Self> {
        Ok(Self { stream: device.stream()?, small })
    }

    /// Transforms the vectors of `jobs`. Returns the results, and the tasks for which the device had not enough memory.
    fn run<'a, 'b, F: TransformField>(
        mut self,
        jobs: Vec<PipelineTask<'a, 'b, F>>,
        ctx: ExecCtx<'_>,
    ) -> Result<LaneOutcome<'a, 'b, F>> {
        let (mut done, mut no_room) = (Vec::new(), Vec::new());
        for (slice, transform) in jobs {
            ctx.check_abort()?;
            match self.allocate_buffers(slice, transform) {
                Ok(room) if size_of_val(slice) <= self.small => {
                    done.push(self.transform_to_staging(slice, room, ctx)?);
                }
                Ok(room) => done.push(self.transform_with_rollback(slice, room, ctx)?),
                Err(Error::OutOfMemory { .. }) => no_room.push((slice, transform)),
                Err(error) => return Err(error),
            }
        }
        ctx.record([&self.stream]);
        Ok((done, no_room))
    }

    fn allocate_buffers<F: TransformField>(&mut self, slice: &[F], transform: &Transform<F>) -> Result<LaneBuffers> {
        let stream = &mut self.stream;
        let layout = VectorLayout { vectors: 1, stride: slice.len() as u64 };
        let bytes = size_of_val(slice);
        let queue = DeviceTransform::new(stream, transform, layout, 0)?;
        let data = stream.allocate(bytes)?.mark_secret();
        let other = queue.scratch_like(stream, &data)?;
        Ok(LaneBuffers { queue, data, other, host: stream.allocate_pinned(bytes)? })
    }

    /// Transforms `slice` on the device with the buffers `room`. The slice keeps its old elements until the result is
    /// committed, so no copy of them is needed.
    fn transform_to_staging<'a, F: TransformField>(
        &mut self,
        slice: &'a mut [F],
        mut room: LaneBuffers,
        ctx: ExecCtx<'_>,
    ) -> Result<TransformedVector<'a, F>> {
        let stream = &mut self.stream;
        stream.upload(&room.data, as_bytes(slice))?;
        room.enqueue_transform(stream)?;
        stream.copy_to_pinned(&mut room.host, &room.data)?;
        stream.zeroize_staging();
        ctx.synchronize(stream)?;
        Ok(TransformedVector::Fetched(slice, room.host))
    }

    /// Transforms `slice` on the device with the buffers `room`. The slice is overwritten while the result is being
    /// fetched, so the pinned buffer keeps a copy of its old elements.
    fn transform_with_rollback<'a, F: TransformField>(
        &mut self,
        slice: &'a mut [F],
        mut room: LaneBuffers,
        ctx: ExecCtx<'_>,
    ) -> Result<TransformedVector<'a, F>> {
        let stream = &mut self.stream;
        stream.upload_via_pinned(&room.data, &mut room.host, as_bytes(slice), ctx.abort())?;
        room.enqueue_transform(stream)?;
        if ctx.is_abortable() {
            ctx.synchronize(stream)?;
        }
        let vector = RollbackGuard::fetch(stream, &room.data, (slice, room.host), ctx)?;
        stream.synchronize(None)?;
        Ok(TransformedVector::InPlace(vector))
    }
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
