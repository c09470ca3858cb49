//! Queues the MSMs of proofs in flight on a device, which share its memory.

use std::sync::{Arc, Mutex};

use super::schedule::{QueryId, QuerySet};
use crate::backend::{Abort, Device, Stream, lock};
use crate::curve::MsmCurve;
use crate::msm::{DeviceScalars, Msm, QueuedMsm};
use crate::{Error, Result};

/// Returns the number of equal parts into which the free memory is divided if `proofs` proofs run concurrently. Each
/// MSM gets one part, and transforms get one more. Memory whose last use is queued counts as free, so that later MSMs
/// find as much.
pub(super) fn memory_part_count(proofs: usize) -> usize {
    QueryId::ALL.len() * proofs + 1
}

/// Queues the MSMs of one proof that one device computes, each with an equal part of the device's free memory.
pub(super) struct MsmQueue<'a> {
    share: QuerySet,
    /// Stream of each MSM, indexed by query; `None` if the device does not compute that MSM. Streams are taken in the
    /// same order for every proof, so that each MSM finds the memory that it had before.
    streams: [Mutex<Option<Stream>>; QueryId::ALL.len()],
    /// Number of proofs that share the free memory, this one included.
    proofs: usize,
    abort: Abort<'a>,
}

impl<'a> MsmQueue<'a> {
    pub fn new(device: &Arc<Device>, share: QuerySet, proofs: usize, abort: Abort<'a>) -> Result<Self> {
        let mut streams = [const { Mutex::new(None) }; QueryId::ALL.len()];
        for query in QueryId::ALL.into_iter().filter(|query| share.has(*query)) {
            streams[query as usize] = Mutex::new(Some(device.stream()?));
        }
        Ok(Self { share, streams, proofs, abort })
    }

    /// Queues the MSM of `scalars` over the bases `table` of `query`. Returns `None` if the device does not compute
    /// that MSM.
    pub fn add<'m, C: MsmCurve>(
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
            Some((msm, scalars)) => msm.queue(scalars, stream, memory_part_count(self.proofs), self.abort).map(Some),
            None => Err(Error::device("host", "groth16", format!("no bases or scalars of {query:?}"))),
        }
    }
}
