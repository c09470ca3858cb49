//! A sum over scalars on the devices, which another operation queues as one of its steps.

use std::marker::PhantomData;
use std::sync::Arc;

use group::Group;

use super::exec::Pipeline;
use super::scalars::DeviceScalars;
use crate::Result;
use crate::backend::{Abort, Buffer, StreamStats};
use crate::curve::MsmCurve;

/// Holds a multiplication whose kernels are queued, and the scalars that they read. It borrows the bases of a
/// [`super::Msm`]. Dropping it waits for the kernels, since the pipelines drop before the scalars.
pub(crate) struct QueuedMsm<'a, C> {
    pipelines: Vec<Pipeline>,
    _scalars: Vec<Arc<Buffer>>,
    bases: PhantomData<&'a C>,
}

impl<C: MsmCurve> QueuedMsm<'_, C> {
    pub(super) fn new(pipelines: Vec<Pipeline>, scalars: &DeviceScalars) -> Self {
        let kept = scalars.shards.iter().map(|(_, buffer)| buffer.clone()).collect();
        Self { pipelines, _scalars: kept, bases: PhantomData }
    }

    /// Waits for the sum, polling `abort`, and returns it with the statistics of its streams.
    ///
    /// # Errors
    /// - [`crate::Error::Aborted`]: the hook aborted.
    /// - [`crate::Error::Device`]: a driver fails, or a thread has panicked.
    pub fn finish(self, abort: Abort<'_>) -> Result<(C::Curve, StreamStats)> {
        let mut total = (C::Curve::identity(), StreamStats::default());
        for pipeline in self.pipelines {
            let (sum, traffic) = pipeline.finish::<C>(abort)?;
            total = (total.0 + sum, total.1 + traffic);
        }
        Ok(total)
    }
}
