//! Multi-scalar multiplication on devices: points and windows spread over devices, each in chunks that fit.

use std::sync::Arc;

use group::Group;

use super::batches::DeviceBatch;
use super::choose_sharding;
use super::device_task::{device_scalars, device_task};
use super::msm_input::MsmInput;
use super::pipeline::Pipeline;
use crate::Result;
use crate::backend::{Device, Stream};
use crate::curve::MsmCurve;
use crate::exec::{ExecCtx, fan_out};
use crate::msm::plan::{IN_FLIGHT, Sharding, Workload};
use crate::msm::scalars::Scalars;

/// Computes Σ scalarᵢ · baseᵢ for every vector of `work`, divided among `devices`, and returns the sums in order. The
/// host adds one point per device.
pub(crate) fn msm<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: MsmInput<'_, C>,
    ctx: ExecCtx<'_>,
) -> Result<Vec<C::Curve>> {
    let at_once = IN_FLIGHT.min(work.vectors.len()).max(1);
    let split = |vector| choose_vector_sharding(devices, &work, vector, at_once, ctx);
    let splits: Vec<_> = work.vectors.iter().map(split).collect::<Result<_>>()?;
    let used = devices.iter().take(work.bases.len()).enumerate();
    let parts =
        fan_out("msm", used, |(number, device)| DeviceBatch { device, number, work, splits: &splits, ctx }.run());
    let mut totals = vec![C::Curve::identity(); work.vectors.len()];
    for part in parts {
        totals.iter_mut().zip(part?).for_each(|(total, sum)| *total += sum);
    }
    Ok(totals)
}

/// Returns how `devices` share `vector`, by points or windows, with `at_once` vectors in flight.
pub(crate) fn choose_vector_sharding<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: &MsmInput<'_, C>,
    vector: &Scalars<'_>,
    at_once: usize,
    ctx: ExecCtx<'_>,
) -> Result<Sharding> {
    let (grid, at_once) = (vector.device_mesh(), at_once as u32);
    let (on_device, abortable) = (grid.is_some(), ctx.is_abortable());
    let alone = Workload::single(vector.len(), vector.max_bit_length(C::SCALAR_BITS));
    let need = Workload { on_device, at_once, abortable, ..alone };
    choose_sharding::choose_sharding(devices, work, need, grid)
}

/// Starts the part of `vector` that device number `number` multiplies, with 1/`at_once` of its free memory. Uses the
/// caller's `stream` if it is given.
pub(crate) fn start_on_device<C: MsmCurve>(
    (device, stream): (&Arc<Device>, Option<Stream>),
    number: usize,
    work: MsmInput<'_, C>,
    (vector, split): (&Scalars<'_>, &Sharding),
    at_once: usize,
    ctx: ExecCtx<'_>,
) -> Result<Pipeline> {
    let vectors = [device_scalars(device, number, &work, (vector, split))?];
    let job = device_task(&work, number, (vector.len(), split), &vectors);
    Pipeline::start((device, stream), job, &work.options, at_once as u32, ctx)
}
