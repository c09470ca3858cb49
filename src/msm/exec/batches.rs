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
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::msm::bases::plan_input;
use crate::msm::options::MsmOptions;
use crate::msm::plan::{Sharding, WindowAssignment, Workload, balanced_len, best_batch_size, max_in_flight};
use crate::{Error, Result};

/// Describes the work of one device in a batch of scalar vectors: its part of each vector.
pub(super) struct DeviceBatch<'a, C> {
    pub device: &'a Arc<Device>,
    /// Number of the device.
    pub number: usize,
    pub work: MsmInput<'a, C>,
    /// How the devices share each vector.
    pub splits: &'a [Sharding],
    pub ctx: ExecCtx<'a>,
}

impl<C: MsmCurve> DeviceBatch<'_, C> {
    /// Computes the device's part in the sum of every vector, with several vectors in flight. Returns a point per
    /// vector, in order.
    ///
    /// A group of vectors that are one sparse matrix is halved if memory does not suffice for it: other work took it, or
    /// the caller wants to join more than fit.
    pub(super) fn run(&self) -> Result<Vec<C::Curve>> {
        let vectors = device_vectors(self.device, self.number, &self.work, self.splits)?;
        if matches!(self.work.bases[self.number], DeviceBases::Host(_)) && vectors.len() > 1 {
            return self.run_streamed(&vectors);
        }
        let mut groups = self.matrix_groups(&vectors)?;
        let longest = groups.iter().map(Range::len).max().unwrap_or(0);
        let at_once = max_in_flight(longest, groups.len());
        let mut running = VecDeque::new();
        let mut sums = Vec::with_capacity(vectors.len());
        let mut finish = |pipeline: Pipeline| {
            sums.extend(pipeline.finish_all::<C>(self.ctx)?);
            Ok::<_, Error>(())
        };
        while let Some(group) = groups.pop_front() {
            if running.len() == at_once {
                running.pop_front().map_or(Ok(()), &mut finish)?;
            }
            let (joined, job) = (group.len(), self.group_task(&vectors, group.clone()));
            match Pipeline::start((self.device, None), job, &self.work.options, at_once as u32, self.ctx) {
                Err(Error::OutOfMemory { requested, available, .. }) if joined > 1 => {
                    log::info!("msm {}: {joined} vectors joined: {requested} bytes wanted, {available} free", C::NAME);
                    halve_range(group).into_iter().rev().for_each(|half| groups.push_front(half));
                }
                pipeline => running.push_back(pipeline?),
            }
        }
        running.into_iter().try_for_each(finish)?;
        Ok(sums)
    }

    /// Returns the ranges of vectors that are multiplied as one sparse matrix each: neighbours with equal bit lengths
    /// and equal shares of the devices.
    fn matrix_groups(&self, vectors: &[ScalarVector<'_>]) -> Result<VecDeque<Range<usize>>> {
        let mut groups = VecDeque::new();
        let mut start = 0;
        while start < vectors.len() {
            let alike = (start..vectors.len()).take_while(|other| self.can_batch(vectors, start, *other));
            let end = start + alike.count();
            let batch_size = self.batch_size(vectors, start..end)?;
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
    fn can_batch(&self, vectors: &[ScalarVector<'_>], one: usize, other: usize) -> bool {
        vectors[one].bits == vectors[other].bits && self.splits[one] == self.splits[other]
    }

    /// Returns the best number of vectors per sparse matrix for the range `alike`, whose vectors can all be one matrix.
    fn batch_size(&self, vectors: &[ScalarVector<'_>], alike: Range<usize>) -> Result<usize> {
        let need = Workload { joined: true, ..self.group_task(vectors, alike).workload(1, self.ctx) };
        batch_size(self.device, &self.work, (self.number, need), vectors.len())
    }

    fn group_task<'v>(&'v self, vectors: &'v [ScalarVector<'v>], group: Range<usize>) -> DeviceTask<'v, C> {
        let (first, vectors) = (group.start, &vectors[group]);
        device_task(&self.work, self.number, (self.work.vectors[first].len(), &self.splits[first]), vectors)
    }

    /// Multiplies `vectors` over bases that are uploaded once for as many vectors as fit in memory.
    fn run_streamed(&self, vectors: &[ScalarVector<'_>]) -> Result<Vec<C::Curve>> {
        let (device, options, ctx) = (self.device, &self.work.options, self.ctx);
        // Devices share bases from the host by points alone.
        let (bases, own) = (self.work.bases[self.number], WindowAssignment::WindowGroup(1));
        let job = DeviceTask { bases, first_base: 0, vectors, joined: false, lanes: 1, own };
        let (mut batch_size, lanes) = choose_streamed_batch(device, job, options, ctx)?;
        let mut sums = Vec::with_capacity(vectors.len());
        while sums.len() < vectors.len() {
            let left = &vectors[sums.len()..];
            let now = balanced_len(left.len(), batch_size);
            let next = DeviceTask { vectors: &left[..now], lanes: lanes.min(now as u32), ..job };
            let pipeline = Pipeline::start((device, None), next, options, 1, ctx);
            match pipeline.and_then(|pipeline| pipeline.finish_all::<C>(ctx)) {
                // Other work has taken the free memory.
                Err(Error::OutOfMemory { requested, available, .. }) if now > 1 => {
                    batch_size = now.div_ceil(2);
                    let name = C::NAME;
                    log::info!("msm {name}: {batch_size} vectors together: {requested} bytes wanted, {available} free");
                }
                next => sums.extend(next?),
            }
        }
        Ok(sums)
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

/// Returns the number of vectors to multiply per upload of the bases, and the number of streams that compute them. It
/// is the largest number that slows a vector by at most `1/MAX_SLOWDOWN_DIV`.
fn choose_streamed_batch<C: MsmCurve>(
    device: &Arc<Device>,
    job: DeviceTask<'_, C>,
    options: &MsmOptions,
    ctx: ExecCtx<'_>,
) -> Result<(usize, u32)> {
    let need = job.workload(1, ctx);
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
