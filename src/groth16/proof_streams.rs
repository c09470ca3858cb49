//! Holds the two streams of a proof.

use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::backend::{Abort, Device, Stream, StreamStats};
use crate::field::{DeviceVector, NttField, as_bytes};

/// Estimated time of a transform of n elements, 10 ns on an H200 for each 1024 elements and each unit of log₂ n.
const TRANSFORM: Duration = Duration::from_nanos(10);

/// Holds two streams of a device: one copies inputs to the device, the other computes.
pub(super) struct ProofStreams<'a> {
    upload: Stream,
    pub compute: Stream,
    abort: Abort<'a>,
}

impl<'a> ProofStreams<'a> {
    pub fn new(device: &Arc<Device>, abort: Abort<'a>) -> Result<Self> {
        Ok(Self { upload: device.stream()?, compute: device.stream()?, abort })
    }

    /// Makes later uploads wait for the work queued so far on the compute stream, and for earlier users of the memory
    /// that this stream has allocated.
    pub fn fence_upload_stream(&mut self) -> Result<()> {
        self.upload.wait_event(&self.compute.record_event()?)
    }

    /// Queues the upload of `slices`, one after another, into `vector`. Later work on the compute stream waits for the
    /// upload.
    pub fn upload<F: NttField>(&mut self, vector: &DeviceVector<F>, slices: &[&[F]]) -> Result<()> {
        let mut offset = 0;
        for slice in slices.iter().map(|slice| as_bytes(slice)) {
            self.upload.upload_abortable(vector.buffer(), offset, slice, self.abort)?;
            offset += slice.len();
        }
        self.compute.wait_event(&self.upload.record_event()?)
    }

    /// Queues `work` on the compute stream, and times its kernels. `work` is presumed to take as long as a transform of
    /// `elements` elements. With an abort hook, waits until at most 50 ms of work is queued.
    pub fn enqueue_timed(&mut self, elements: usize, work: impl FnOnce(&mut Stream) -> Result<()>) -> Result<()> {
        let time = TRANSFORM * (elements / 1024) as u32 * elements.max(2).ilog2();
        let device = self.compute.device().clone();
        let turn = device.acquire_queue_permit(&self.compute, time, self.abort)?;
        self.compute.begin_timing()?;
        work(&mut self.compute)?;
        self.compute.end_timing()?;
        if let Some(turn) = turn {
            turn.release_on(Arc::new(self.compute.record_event()?));
        }
        Ok(())
    }

    pub fn traffic(&self) -> StreamStats {
        self.upload.stats() + self.compute.stats()
    }
}
