//! Sums of proofs under way on a device, queued as they share its memory.

use std::sync::{Arc, Mutex};

use super::gpu::Lane;
use super::spread::{Query, Share};
use crate::backend::{Abort, Traffic, lock};
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
    sharing: Sharing,
    turn: Mutex<()>,
    abort: Abort<'a>,
}

impl<'a> Queue<'a> {
    pub fn new(share: Share, sharing: Sharing, abort: Abort<'a>) -> Self {
        Self { share, sharing, turn: Mutex::default(), abort }
    }

    /// Queues a sum if it is the device's.
    pub fn add<'m, C: MsmCurve>(
        &self,
        query: Query,
        table: &'m Option<Arc<Msm<'static, C>>>,
        scalars: Option<&DeviceScalars>,
    ) -> Result<Option<Sum<'m, C>>> {
        match (self.share.has(query), table, scalars) {
            (false, _, _) => Ok(None),
            (true, Some(msm), Some(scalars)) => self.add_sum(query, msm, scalars).map(Some),
            _ => Err(Error::device("host", "groth16", format!("no bases or scalars of {query:?}"))),
        }
    }

    fn add_sum<'m, C: MsmCurve>(
        &self,
        query: Query,
        msm: &'m Msm<'_, C>,
        scalars: &DeviceScalars,
    ) -> Result<Sum<'m, C>> {
        let parts = self.sharing.parts(query);
        match self.sharing {
            Sharing::AtOnce(_) => msm.queue(scalars, parts, self.abort).map(Sum::Queued),
            Sharing::InTurn => {
                let _turn = lock(&self.turn);
                let (sum, traffic) = msm.queue(scalars, parts, self.abort)?.finish(self.abort)?;
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
