//! Multiplies the vectors of a batch. Over bases on the device, several vectors are one sparse matrix, so that its
//! kernels wait only once.
//!
//! Over bases from the host, an upload of bases serves as many vectors as fit in memory.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::device_task::{DeviceTask, ScalarVector, device_task, device_vectors};
use super::msm_input::{DeviceBases, MsmInput};
use super::pipeline::Pipeline;
use super::plan_selection::{available_bytes, plan_for, quantize_memory};
use crate::backend::{Abort, Device, StreamStats};
use crate::curve::MsmCurve;
use crate::msm::bases::plan_input;
use crate::msm::options::MsmOptions;
use crate::msm::plan::{Sharding, WindowAssignment, Workload, balanced_len, best_batch_size, max_in_flight};
use crate::{Error, Result};

/// Holds the work of one device in a batch of scalar vectors: its part of each vector.
struct ResidentBatch<'a, C> {
    device: &'a Arc<Device>,
    number: usize,
    work: MsmInput<'a, C>,
    splits: &'a [Sharding],
    vectors: Vec<ScalarVector<'a>>,
    abort: Abort<'a>,
}

/// Computes the part of device number `number` in the sum of every vector, with several vectors in flight. Returns a
/// point per vector, in order.
pub(super) fn run_resident_batch<C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    (work, splits): (MsmInput<'_, C>, &[Sharding]),
    abort: Abort<'_>,
) -> Result<(Vec<C::Curve>, StreamStats)> {
    let vectors = device_vectors(device, number, &work, splits)?;
    let batch = ResidentBatch { device, number, work, splits, vectors, abort };
    batch.run(batch.matrix_groups()?)
}

impl<C: MsmCurve> ResidentBatch<'_, C> {
    /// Returns the ranges of vectors that are multiplied as one sparse matrix each: neighbours with equal bit lengths
    /// and equal shares of the devices.
    fn matrix_groups(&self) -> Result<VecDeque<Range<usize>>> {
        let mut groups = VecDeque::new();
        let mut start = 0;
        while start < self.vectors.len() {
            let alike = (start..self.vectors.len()).take_while(|other| self.can_batch(start, *other));
            let end = start + alike.count();
            let batch_size = self.batch_size(start..end)?;
            while start < end {
                let next = start + balanced_len(end - start, batch_size);
                groups.push_back(start..next);
                start = next;
            }
        }
        Ok(groups)
    }

    /// Returns whether the vectors with indices `one` and `other` can be one sparse matrix: their bit lengths and the
    /// devices' shares are equal. A shorter vector would have unused windows.
    fn can_batch(&self, one: usize, other: usize) -> bool {
        self.vectors[one].bits == self.vectors[other].bits && self.splits[one] == self.splits[other]
    }

    /// Returns the best number of vectors per sparse matrix for the range `alike`, whose vectors can all be one matrix.
    fn batch_size(&self, alike: Range<usize>) -> Result<usize> {
        let need = Workload { joined: true, ..self.group_task(alike).workload(1, self.abort) };
        batch_size(self.device, &self.work, (self.number, need), self.vectors.len())
    }

    fn group_task(&self, group: Range<usize>) -> DeviceTask<'_, C> {
        let (first, vectors) = (group.start, &self.vectors[group]);
        device_task(&self.work, self.number, (self.work.vectors[first].len(), &self.splits[first]), vectors)
    }

    fn run(&self, mut groups: VecDeque<Range<usize>>) -> Result<(Vec<C::Curve>, StreamStats)> {
        let longest = groups.iter().map(Range::len).max().unwrap_or(0);
        let at_once = max_in_flight(longest, groups.len());
        let mut running = VecDeque::new();
        let mut total = (Vec::with_capacity(self.vectors.len()), StreamStats::default());
        let mut finish = |pipeline: Pipeline| {
            let (sums, traffic) = pipeline.finish_all::<C>(self.abort)?;
            total.0.extend(sums);
            total.1 = total.1 + traffic;
            Ok::<_, Error>(())
        };
        while let Some(group) = groups.pop_front() {
            if running.len() == at_once {
                running.pop_front().map_or(Ok(()), &mut finish)?;
            }
            match self.start_group(group.clone(), at_once)? {
                Some(pipeline) => running.push_back(pipeline),
                None => halve_range(group).into_iter().rev().for_each(|half| groups.push_front(half)),
            }
        }
        running.into_iter().try_for_each(finish)?;
        Ok(total)
    }

    /// Starts the vectors in the range `group` as one sparse matrix, with `at_once` matrices in flight. Returns `None`
    /// if memory does not suffice for several vectors: other work took it, or the caller wants to join more than fit.
    fn start_group(&self, group: Range<usize>, at_once: usize) -> Result<Option<Pipeline>> {
        let (joined, job) = (group.len(), self.group_task(group));
        match Pipeline::start((self.device, None), job, &self.work.options, at_once as u32, self.abort) {
            Err(Error::OutOfMemory { requested, available, .. }) if joined > 1 => {
                log::info!("msm {}: {joined} vectors joined: {requested} bytes wanted, {available} free", C::NAME);
                Ok(None)
            }
            pipeline => pipeline.map(Some),
        }
    }
}

fn halve_range(group: Range<usize>) -> [Range<usize>; 2] {
    let middle = group.start + group.len().div_ceil(2);
    [group.start..middle, middle..group.end]
}

/// Returns the best number of scalar vectors per sparse matrix on `device`: the caller's option, or else the model's
/// choice. `need` is the workload of all the vectors that can be one matrix, out of `batch` vectors in all. Returns 1
/// if the bases are not on the device.
///
/// # Errors
/// - [`Error::Device`]: the device does not report its free memory.
pub(crate) fn batch_size<C: MsmCurve>(
    device: &Device,
    work: &MsmInput<'_, C>,
    (number, need): (usize, Workload),
    batch: usize,
) -> Result<usize> {
    let count = need.vectors as usize;
    let (Some(DeviceBases::Device(table)), true) = (work.bases.get(number), count > 1) else { return Ok(1) };
    if work.options.joined > 0 {
        return Ok(work.options.joined.min(count));
    }
    let free = quantize_memory(available_bytes(device, 1, &work.options)?);
    let problem = plan_input::<C>(device, Some(table), need, &work.options);
    Ok(work.choices.joins.get_or_insert_with((problem, batch, free), || best_batch_size(problem, batch, free)))
}

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
