//! Transforms vectors from pinned host memory to pinned host memory, at the link's rate.

use std::sync::Arc;

use super::queue_passes::VectorOnDevice;
use crate::backend::{Abort, Device, Stream};
use crate::exec::{ExecCtx, Operation, execute, fan_out, run_pipeline};
use crate::field::{HostVector, TransformField};
use crate::ntt::domain::{Direction, NttDomain};
use crate::ntt::{Transform, cpu};
use crate::report::OpScope;
use crate::{Report, Result};

/// Number of vectors in flight on a device, 3: one is uploaded, one transformed, one downloaded.
const SLOTS: usize = 3;

/// Holds an input vector and the vector that receives its transform, both in pinned host memory.
pub(crate) type PinnedPair<'a, F> = (&'a HostVector<F>, &'a mut HostVector<F>);

impl<F: TransformField> NttDomain<F> {
    /// Transforms the first vector of each pair into the second one, both in pinned host memory. Pairs are spread over
    /// the accelerator's devices. The inputs stay unchanged.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a vector is not `2^log_n` long.
    /// - [`Error::Aborted`](crate::Error::Aborted): the hook aborted.
    /// - The error of a forced backend that failed.
    ///
    /// After an error, results are undefined.
    pub fn run_pinned(
        &self,
        direction: Direction,
        pairs: &mut [PinnedPair<'_, F>],
        abort: Abort<'_>,
    ) -> Result<Report> {
        let transform = self.transform(direction);
        pairs.iter().try_for_each(|(from, to)| transform.check(from.len()).and_then(|()| transform.check(to.len())))?;
        execute(self.accelerator(), self.accelerator().devices(), &mut TransformPinned { pairs, transform }, abort)
            .map(|((), report)| report)
    }
}

/// Transforms the first vector of each pair into the second one.
struct TransformPinned<'a, 'v, F> {
    pairs: &'a mut [PinnedPair<'v, F>],
    transform: Transform<F>,
}

impl<F: TransformField> Operation for TransformPinned<'_, '_, F> {
    type Output = ();

    fn scope(&self) -> OpScope {
        let elements = self.pairs.iter().map(|(from, _)| from.len()).sum();
        OpScope { operation: format!("pinned ntt {}", F::NAME), elements }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<()> {
        let share = self.pairs.len().div_ceil(devices.len()).max(1);
        let shares = devices.iter().zip(self.pairs.chunks_mut(share));
        let transform = &self.transform;
        let parts = fan_out("ntt", shares, |(device, pairs)| transform_on_device(device, pairs, transform, ctx));
        parts.into_iter().collect()
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<()> {
        for (from, to) in &mut *self.pairs {
            to.copy_from_slice(from);
        }
        let mut slices: Vec<&mut [F]> = self.pairs.iter_mut().map(|(_, to)| &mut to[..]).collect();
        let transforms = vec![self.transform; slices.len()];
        cpu::transform_many(&mut slices, &transforms, ctx)
    }
}

fn transform_on_device<F: TransformField>(
    device: &Arc<Device>,
    pairs: &mut [PinnedPair<'_, F>],
    transform: &Transform<F>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let streams = (0..SLOTS.min(pairs.len())).map(|_| device.stream()).collect::<Result<_>>()?;
    let wait = |stream: &mut Stream| ctx.synchronize(stream);
    let streams = run_pipeline(streams, pairs, ctx, wait, |stream, _, pair| {
        pair.map(|pair| enqueue_pair(stream, pair, transform)).transpose()
    })?;
    ctx.record(&streams);
    Ok(())
}

fn enqueue_pair<F: TransformField>(
    stream: &mut Stream,
    (from, to): &mut PinnedPair<'_, F>,
    transform: &Transform<F>,
) -> Result<()> {
    let vector = VectorOnDevice::allocate(stream, transform, from.len())?;
    stream.copy_from_pinned(&vector.data, from.buffer())?;
    vector.enqueue_timed(stream)?;
    stream.copy_to_pinned(to.buffer_mut(), &vector.data)
}
