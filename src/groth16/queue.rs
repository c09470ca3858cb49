//! How the sums of proofs under way on a device are queued, which share its memory.

use std::sync::{Arc, Mutex};

use super::spread::{Query, Share};
use crate::backend::{Abort, Device, Stream, lock};
use crate::curve::MsmCurve;
use crate::msm::{DeviceScalars, Msm, Queued};
use crate::{Error, Result};

/// Equal parts of the free memory, where so many proofs are under way. Each sum takes one, and one is left to transforms.
/// Memory whose last use a sum has queued counts as free, so that later sums find as much.
pub(super) fn parts(proofs: usize) -> usize {
    Query::ALL.len() * proofs + 1
}

/// Queues those sums of a proof that are a device's, as they share the memory.
pub(super) struct Queue<'a> {
    share: Share,
    /// Of each sum, taken in the same order for every proof: so each finds the memory that it had before.
    streams: [Mutex<Option<Stream>>; Query::ALL.len()],
    /// Proofs that share what memory is free, this one among them.
    proofs: usize,
    abort: Abort<'a>,
}

impl<'a> Queue<'a> {
    pub fn new(device: &Arc<Device>, share: Share, proofs: usize, abort: Abort<'a>) -> Result<Self> {
        let mut streams = [const { Mutex::new(None) }; Query::ALL.len()];
        for query in Query::ALL.into_iter().filter(|query| share.has(*query)) {
            streams[query as usize] = Mutex::new(Some(device.stream()?));
        }
        Ok(Self { share, streams, proofs, abort })
    }

    /// Queues a sum if it is the device's.
    pub fn add<'m, C: MsmCurve>(
        &self,
        query: Query,
        table: Option<&'m Arc<Msm<'static, C>>>,
        scalars: Option<&DeviceScalars>,
    ) -> Result<Option<Queued<'m, C>>> {
        if !self.share.has(query) {
            return Ok(None);
        }
        let stream = lock(&self.streams[query as usize]).take();
        match table.zip(scalars) {
            Some((msm, scalars)) => msm.queue(scalars, stream, parts(self.proofs), self.abort).map(Some),
            None => Err(Error::device("host", "groth16", format!("no bases or scalars of {query:?}"))),
        }
    }
}
