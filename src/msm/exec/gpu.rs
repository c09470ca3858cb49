//! Multi-scalar multiplication on devices: points and windows spread over devices, each in chunks that fit.

use std::sync::Arc;

use group::Group;

use super::device_task::{device_scalars, device_task};
use super::msm_input::{DeviceBases, MsmInput};
use super::pipeline::Pipeline;
use super::{batches, choose_sharding};
use crate::Result;
use crate::backend::{Abort, Device, Stream, StreamStats};
use crate::curve::MsmCurve;
use crate::fan_out::fan_out;
use crate::msm::plan::{IN_FLIGHT, Sharding, Workload};
use crate::msm::scalars::Scalars;

/// Computes Σ scalarᵢ · baseᵢ for every vector of `work`, divided among `devices`, and returns the sums in order. The
/// host adds one point per device.
pub(crate) fn msm<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: MsmInput<'_, C>,
    abort: Abort<'_>,
) -> Result<(Vec<C::Curve>, StreamStats)> {
    let at_once = IN_FLIGHT.min(work.vectors.len()).max(1);
    let split = |vector| choose_vector_sharding(devices, &work, vector, at_once, abort);
    let splits: Vec<_> = work.vectors.iter().map(split).collect::<Result<_>>()?;
    let used = devices.iter().take(work.bases.len()).enumerate();
    let parts = fan_out("msm", used, |(number, device)| run_on_device(device, number, (work, &splits), abort));
    let mut total = (vec![C::Curve::identity(); work.vectors.len()], StreamStats::default());
    for part in parts {
        let (sums, traffic) = part?;
        total.0.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        total.1 = total.1 + traffic;
    }
    Ok(total)
}

/// Returns how `devices` share `vector`, by points or windows, with `at_once` vectors in flight.
pub(crate) fn choose_vector_sharding<C: MsmCurve>(
    devices: &[Arc<Device>],
    work: &MsmInput<'_, C>,
    vector: &Scalars<'_>,
    at_once: usize,
    abort: Abort<'_>,
) -> Result<Sharding> {
    let (grid, at_once) = (vector.device_mesh(), at_once as u32);
    let (on_device, abortable) = (grid.is_some(), abort.is_some());
    let alone = Workload::single(vector.len(), vector.max_bit_length(C::SCALAR_BITS));
    let need = Workload { on_device, at_once, abortable, ..alone };
    choose_sharding::choose_sharding(devices, work, need, grid)
}

/// Computes the part of device number `number` in the sum of every vector, with several vectors in flight. Returns a
/// point per vector, in order.
fn run_on_device<C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    (work, splits): (MsmInput<'_, C>, &[Sharding]),
    abort: Abort<'_>,
) -> Result<(Vec<C::Curve>, StreamStats)> {
    if matches!(work.bases[number], DeviceBases::Host(_)) && work.vectors.len() > 1 {
        return batches::run_streamed_batch(device, number, (work, splits), abort);
    }
    batches::run_resident_batch(device, number, (work, splits), abort)
}

/// Starts the part of `vector` that device number `number` multiplies, with 1/`at_once` of its free memory. Uses the
/// caller's `stream` if it is given.
pub(crate) fn start_on_device<C: MsmCurve>(
    (device, stream): (&Arc<Device>, Option<Stream>),
    number: usize,
    work: MsmInput<'_, C>,
    (vector, split): (&Scalars<'_>, &Sharding),
    at_once: usize,
    abort: Abort<'_>,
) -> Result<Pipeline> {
    let vectors = [device_scalars(device, number, &work, (vector, split))?];
    let job = device_task(&work, number, (vector.len(), split), &vectors);
    Pipeline::start((device, stream), job, &work.options, at_once as u32, abort)
}
