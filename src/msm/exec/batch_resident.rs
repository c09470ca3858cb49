//! Multiplies vectors of a batch over bases on the device. Several vectors are one sparse matrix, so that its kernels
//! wait only once.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::device_task::{DeviceTask, ScalarVector, device_task, device_vectors};
use super::msm_input::{DeviceBases, MsmInput};
use super::pipeline::Pipeline;
use super::plan_selection::{available_bytes, quantize_memory};
use crate::backend::{Abort, Device, StreamStats};
use crate::curve::MsmCurve;
use crate::msm::bases::plan_input;
use crate::msm::plan::{Sharding, Workload, balanced_len, best_batch_size, max_in_flight};
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
