//! Multiplies several vectors over bases from the host. An upload of bases serves as many vectors as fit in memory.

use std::sync::Arc;

use super::device_task::{DeviceTask, device_vectors};
use super::msm_input::MsmInput;
use super::pipeline::Pipeline;
use super::plan_selection::plan_for;
use crate::backend::{Abort, Device, StreamStats};
use crate::curve::MsmCurve;
use crate::msm::options::MsmOptions;
use crate::msm::plan::{Sharding, WindowAssignment, Workload, balanced_len};
use crate::{Error, Result};

/// Batching may slow a vector by at most `1/MAX_SLOWDOWN_DIV` by the model: the buckets of the other vectors leave less
/// memory for windows and chunks.
const MAX_SLOWDOWN_DIV: u32 = 8;
/// Two streams that compute in turns hide `1/OVERLAP_GAIN_DIV` of the time of one stream.
const OVERLAP_GAIN_DIV: u32 = 16;

/// Computes the part of device number `number` in the sum of every vector, over bases that are uploaded once for as
/// many vectors as fit in memory. Returns a point per vector, in order.
pub(super) fn run_streamed_batch<C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    (work, splits): (MsmInput<'_, C>, &[Sharding]),
    abort: Abort<'_>,
) -> Result<(Vec<C::Curve>, StreamStats)> {
    let vectors = device_vectors(device, number, &work, splits)?;
    // Devices share bases from the host by points alone.
    let (bases, own) = (work.bases[number], WindowAssignment::WindowGroup(1));
    let job = DeviceTask { bases, first_base: 0, vectors: &vectors, joined: false, lanes: 1, own };
    let (mut batch_size, lanes) = choose_streamed_batch(device, job, &work.options, abort)?;
    let mut total = (Vec::with_capacity(vectors.len()), StreamStats::default());
    while total.0.len() < vectors.len() {
        let left = &vectors[total.0.len()..];
        let now = balanced_len(left.len(), batch_size);
        let next = DeviceTask { vectors: &left[..now], lanes: lanes.min(now as u32), ..job };
        let pipeline = Pipeline::start((device, None), next, &work.options, 1, abort);
        match pipeline.and_then(|pipeline| pipeline.finish_all::<C>(abort)) {
            // Other work has taken the free memory.
            Err(Error::OutOfMemory { requested, available, .. }) if now > 1 => {
                batch_size = now.div_ceil(2);
                log::info!(
                    "msm {}: {batch_size} vectors together: {requested} bytes wanted, {available} free",
                    C::NAME
                );
            }
            sums => {
                let (sums, traffic) = sums?;
                total.0.extend(sums);
                total.1 = total.1 + traffic;
            }
        }
    }
    Ok(total)
}

/// Returns the number of vectors to multiply per upload of the bases, and the number of streams that compute them. It
/// is the largest number that slows a vector by at most `1/MAX_SLOWDOWN_DIV`.
fn choose_streamed_batch<C: MsmCurve>(
    device: &Arc<Device>,
    job: DeviceTask<'_, C>,
    options: &MsmOptions,
    abort: Abort<'_>,
) -> Result<(usize, u32)> {
    let need = job.workload(1, abort);
    let time = |vectors: u32, lanes: u32| {
        let plan = plan_for(device, &job.bases, Workload { vectors, lanes, ..need }, options)?;
        // The model ignores the work that a second lane hides.
        Ok::<_, Error>((
            plan.estimate_chunk_time(need.points) * (OVERLAP_GAIN_DIV + 1 - lanes) / OVERLAP_GAIN_DIV,
            lanes,
        ))
    };
    let (alone, _) = time(1, 1)?;
    let limit = alone + alone / MAX_SLOWDOWN_DIV;
    let best = |count| [2, 1].into_iter().flat_map(|lanes| time(count, lanes)).min();
    let fewer = |count: &u32| (*count > 2).then(|| count.div_ceil(2));
    let mut counts = std::iter::successors(Some(need.vectors), fewer);
    let fits = |count: u32| best(count).filter(|(time, _)| *time <= limit).map(|(_, lanes)| (count as usize, lanes));
    Ok(counts.find_map(fits).unwrap_or((1, 1)))
}
