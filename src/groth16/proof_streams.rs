//! Holds the two streams of a proof.

use std::sync::Arc;
use std::time::Duration;

use crate::Result;
use crate::backend::{Abort, Device, Stream, StreamStats};
use crate::field::{DeviceVector, NttField, as_bytes};

/// Time that 1024 elements of a transform take for each bit of its length, on an H200.
const TRANSFORM: Duration = Duration::from_nanos(10);

/// Holds two streams: one copies inputs to the device, the other computes.
pub(super) struct ProofStreams<'a> {
    upload: Stream,
    pub compute: Stream,
    abort: Abort<'a>,
}

impl<'a> ProofStreams<'a> {
    pub fn new(device: &Arc<Device>, abort: Abort<'a>) -> Result<Self> {
        Ok(Self { upload: device.stream()?, compute: device.stream()?, abort })
    }

    /// Makes uploads wait for the previous users of the memory that the computing stream has allocated so far.
    pub fn wait_for_allocations(&mut self) -> Result<()> {
        self.upload.wait_event(&self.compute.record_event()?)
    }

    /// Queues the upload of `slices`, one after another, into a `vector` of the computing stream, which waits for it.
    pub fn upload<F: NttField>(&mut self, vector: &DeviceVector<F>, slices: &[&[F]]) -> Result<()> {
        let mut offset = 0;
        for slice in slices.iter().map(|slice| as_bytes(slice)) {
            self.upload.upload_abortable(vector.buffer(), offset, slice, self.abort)?;
            offset += slice.len();
        }
        self.compute.wait_event(&self.upload.record_event()?)
    }

    /// Queues `work` on vectors of `elements` elements, which takes about as long as a transform.
    pub fn transform(&mut self, elements: usize, work: impl FnOnce(&mut Stream) -> Result<()>) -> Result<()> {
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
        self.upload.traffic() + self.compute.traffic()
    }
}
