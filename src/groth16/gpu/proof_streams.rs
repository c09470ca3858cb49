//! Holds the two streams of a proof, and queues the MSMs of the proofs in flight on a device, which share its memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::backend::{Device, Stream, lock};
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::groth16::Witness;
use crate::groth16::schedule::{QueryId, QuerySet};
use crate::msm::{DeviceScalars, Msm, QueuedMsm};
use crate::{Error, Result};

/// Estimated time of a transform of n elements, 10 ns on an H200 for each 1024 elements and each unit of log₂ n.
const TRANSFORM: Duration = Duration::from_nanos(10);

/// Holds two streams of a device: one copies inputs to the device, the other computes.
pub(crate) struct ProofStreams<'a> {
    upload: Stream,
    pub compute: Stream,
    ctx: ExecCtx<'a>,
}

impl<'a> ProofStreams<'a> {
    pub(crate) fn new(device: &Arc<Device>, ctx: ExecCtx<'a>) -> Result<Self> {
        Ok(Self { upload: device.stream()?, compute: device.stream()?, ctx })
    }

    /// Makes later uploads wait for the work queued so far on the compute stream. They thereby wait for earlier users
    /// of the memory that this stream has allocated.
    pub(crate) fn fence_upload_stream(&mut self) -> Result<()> {
        self.upload.wait_event(&self.compute.record_event()?)
    }

    /// Queues the upload of `values` to the start of `vector`. Later work on the compute stream waits for it.
    pub(crate) fn upload<F: NttField>(&mut self, vector: &DeviceVector<F>, values: &[F]) -> Result<()> {
        self.upload.upload_abortable(vector.buffer(), 0, as_bytes(values), self.ctx.abort())?;
        self.compute.wait_event(&self.upload.record_event()?)
    }

    /// Queues the upload of the values of `witness`, inputs first, to `assignment`. Later work on the compute stream
    /// waits for it.
    pub(crate) fn upload_assignment<F: NttField>(
        &mut self,
        assignment: &DeviceVector<F>,
        witness: &Witness<'_, F>,
    ) -> Result<()> {
        let Self { upload, ctx, .. } = self;
        let mut offset = 0;
        let mut append = |values: &[F]| {
            upload.upload_abortable(assignment.buffer(), offset, as_bytes(values), ctx.abort())?;
            offset += size_of_val(values);
            Ok(())
        };
        append(witness.inputs)?;
        witness.aux.try_for_each_piece(append)?;
        self.compute.wait_event(&self.upload.record_event()?)
    }

    /// Queues `work` on the compute stream, and times its kernels. `work` is presumed to take as long as a transform of
    /// `elements` elements. With an abort hook, waits until at most 50 ms of work is queued.
    pub(crate) fn enqueue_timed(
        &mut self,
        elements: usize,
        work: impl FnOnce(&mut Stream) -> Result<()>,
    ) -> Result<()> {
        let time = TRANSFORM * (elements / 1024) as u32 * elements.max(2).ilog2();
        let device = self.compute.device().clone();
        let turn = device.acquire_queue_permit(&self.compute, time, self.ctx.abort())?;
        self.compute.begin_timing()?;
        work(&mut self.compute)?;
        self.compute.end_timing()?;
        if let Some(turn) = turn {
            turn.release_on(Arc::new(self.compute.record_event()?));
        }
        Ok(())
    }

    /// Adds the statistics of both streams to those of the operation.
    pub(crate) fn record_stats(&self) {
        self.ctx.record([&self.upload, &self.compute]);
    }
}

/// Returns the number of equal parts into which the free memory is divided if `proofs` proofs run concurrently. Each
/// MSM gets one part, and transforms get one more. Memory whose last use is queued counts as free, so that later MSMs
/// find as much.
pub(crate) fn memory_part_count(proofs: usize) -> usize {
    QueryId::ALL.len() * proofs + 1
}

/// Queues the MSMs of one proof that one device computes, each with an equal part of the device's free memory.
pub(crate) struct MsmQueue<'a> {
    share: QuerySet,
    /// Stream of each MSM, indexed by query; `None` if the device does not compute that MSM. Streams are taken in the
    /// same order for every proof, so that each MSM finds the memory that it had before.
    streams: [Mutex<Option<Stream>>; QueryId::ALL.len()],
    /// Number of proofs that share the free memory, this one included.
    proofs: usize,
    ctx: ExecCtx<'a>,
}

impl<'a> MsmQueue<'a> {
    pub(super) fn new(device: &Arc<Device>, share: QuerySet, proofs: usize, ctx: ExecCtx<'a>) -> Result<Self> {
        let mut streams = [const { Mutex::new(None) }; QueryId::ALL.len()];
        for query in QueryId::ALL.into_iter().filter(|query| share.has(*query)) {
            streams[query as usize] = Mutex::new(Some(device.stream()?));
        }
        Ok(Self { share, streams, proofs, ctx })
    }

    /// Queues the MSM of `scalars` over the bases `table` of `query`. Returns `None` if the device does not compute
    /// that MSM.
    pub(super) fn add<'m, C: MsmCurve>(
        &self,
        query: QueryId,
        table: Option<&'m Arc<Msm<'static, C>>>,
        scalars: Option<&DeviceScalars>,
    ) -> Result<Option<QueuedMsm<'m, C>>> {
        if !self.share.has(query) {
            return Ok(None);
        }
        let stream = lock(&self.streams[query as usize]).take();
        match table.zip(scalars) {
            Some((msm, scalars)) => msm.queue(scalars, stream, memory_part_count(self.proofs), self.ctx).map(Some),
            None => Err(Error::device("host", "groth16", format!("the query {query} has no bases or no scalars"))),
        }
    }
}
