//! Sums of proofs under way on a device, queued as they share its memory.

use std::sync::{Arc, Mutex};

use super::gpu::Lane;
use super::spread::{Query, Share};
use crate::backend::{Abort, Device, Stream, Traffic, lock};
use crate::curve::MsmCurve;
use crate::msm::{DeviceScalars, Msm, Queued};
use crate::{Error, Result};

/// How the sums of proofs under way share a device's free memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sharing {
    /// All at once, of so many proofs.
    AtOnce(usize),
    /// Transforms and each sum one after the other, where there is too little for that.
    InTurn,
}

impl Sharing {
    /// Equal parts, of which a sum takes one, and one is left to what transforms take beside.
    fn parts(self, query: Query) -> usize {
        let before = match query {
            Query::BG2 => 0,
            Query::A => 1,
            Query::BG1 => 2,
            Query::L => 3,
            Query::H => 4,
        };
        match self {
            Self::AtOnce(proofs) => Query::ALL.len() * proofs + 1 - before,
            Self::InTurn => 1,
        }
    }
}

/// A sum under way, or done.
pub(super) enum Sum<'a, C: MsmCurve> {
    Queued(Queued<'a, C>),
    Done(C::Curve, Traffic),
}

impl<C: MsmCurve> Sum<'_, C> {
    pub fn finish(self, abort: Abort<'_>) -> Result<(C::Curve, Traffic)> {
        match self {
            Self::Queued(sum) => sum.finish(abort),
            Self::Done(sum, traffic) => Ok((sum, traffic)),
        }
    }
}

/// Queues those sums of a proof that are a device's, as they share the memory.
pub(super) struct Queue<'a> {
    share: Share,
    /// Of each sum where they run at once, taken in the same order for every proof: so each finds the blocks in its pools
    /// that it had before.
    streams: [Mutex<Option<Stream>>; Query::ALL.len()],
    sharing: Sharing,
    turn: Mutex<()>,
    abort: Abort<'a>,
}

impl<'a> Queue<'a> {
    pub fn new(device: &Arc<Device>, share: Share, sharing: Sharing, abort: Abort<'a>) -> Result<Self> {
        let mut streams = [const { Mutex::new(None) }; Query::ALL.len()];
        let at_once = matches!(sharing, Sharing::AtOnce(_));
        for query in Query::ALL.into_iter().filter(|query| at_once && share.has(*query)) {
            streams[query as usize] = Mutex::new(Some(device.stream()?));
        }
        Ok(Self { share, streams, sharing, turn: Mutex::default(), abort })
    }

    /// Queues a sum if it is the device's.
    pub fn add<'m, C: MsmCurve>(
        &self,
        query: Query,
        table: Option<&'m Arc<Msm<'static, C>>>,
        scalars: Option<&DeviceScalars>,
    ) -> Result<Option<Sum<'m, C>>> {
        if !self.share.has(query) {
            return Ok(None);
        }
        let stream = lock(&self.streams[query as usize]).take();
        match table.zip(scalars) {
            Some((msm, scalars)) => self.add_sum(query, msm, scalars, stream).map(Some),
            None => Err(Error::device("host", "groth16", format!("no bases or scalars of {query:?}"))),
        }
    }

    fn add_sum<'m, C: MsmCurve>(
        &self,
        query: Query,
        msm: &'m Msm<'_, C>,
        scalars: &DeviceScalars,
        stream: Option<Stream>,
    ) -> Result<Sum<'m, C>> {
        let parts = self.sharing.parts(query);
        match self.sharing {
            Sharing::AtOnce(_) => msm.queue(scalars, stream, parts, self.abort).map(Sum::Queued),
            Sharing::InTurn => {
                let _turn = lock(&self.turn);
                let (sum, traffic) = msm.queue(scalars, stream, parts, self.abort)?.finish(self.abort)?;
                Ok(Sum::Done(sum, traffic))
            }
        }
    }

    /// Queues transforms.
    pub fn transforms<T>(&self, lane: &mut Lane<'_>, work: impl FnOnce(&mut Lane<'_>) -> Result<T>) -> Result<T> {
        match self.sharing {
            Sharing::AtOnce(_) => work(lane),
            Sharing::InTurn => {
                let _turn = lock(&self.turn);
                let result = work(lane)?;
                lane.compute.wait(self.abort)?;
                Ok(result)
            }
        }
    }
}
