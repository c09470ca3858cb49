//! Multiplies the vectors of a batch on one device. Over bases on the device, several vectors are one sparse matrix, so
//! that its kernels wait only once.
//!
//! Over bases from the host, an upload of bases serves as many vectors as fit in memory.

use std::collections::VecDeque;
use std::ops::Range;

use super::decision_cache::{PlanCache, PlanKey};
use super::device_batch::{DeviceBatch, VectorShare};
use super::msm_request::{DeviceBases, MsmRequest};
use super::pipeline::Pipeline;
use super::plan_selection::{available_bytes, plan_for, plan_within, quantize_memory};
use crate::backend::Device;
use crate::curve::MsmCurve;
use crate::exec::ExecCtx;
use crate::msm::bases::resident_plan_input;
use crate::msm::options::MsmOptions;
use crate::msm::plan::{PlanInput, balanced_len, best_batch_size, max_in_flight};
use crate::{Error, Result};

/// Describes how a device computes a batch: `groups` are ranges of vectors, and those of a group share a pipeline.
struct BatchSchedule {
    groups: VecDeque<Range<usize>>,
    /// Whether the vectors of a group are one sparse matrix, not one each.
    joined: bool,
    /// Maximum number of streams that compute the matrices of a group in turns.
    lanes: u32,
    /// Number of groups in flight at once.
    in_flight: usize,
}

impl<C: MsmCurve> DeviceBatch<'_, C> {
    /// Computes the device's part in the sum of every vector, with several groups of vectors in flight. Returns a point
    /// per vector, in order.
    ///
    /// A group is halved if memory does not suffice for it: other work took it, or the caller wants to join more than
    /// fit.
    pub(super) fn run(&self, ctx: ExecCtx<'_>) -> Result<Vec<C::Curve>> {
        let BatchSchedule { mut groups, joined, lanes, in_flight } = self.schedule(ctx)?;
        let mut running = VecDeque::new();
        let mut sums = Vec::with_capacity(self.vectors.len());
        let mut finish = |pipeline: Pipeline| {
            sums.extend(pipeline.finish::<C>(ctx)?);
            Ok::<_, Error>(())
        };
        while let Some(group) = groups.pop_front() {
            if running.len() == in_flight {
                running.pop_front().map_or(Ok(()), &mut finish)?;
            }
            let batch = self.part(group.clone());
            let input = batch.plan_input(ctx);
            let lanes = lanes.min(input.vectors);
            let input = if joined { input.with_joined(input.vectors) } else { PlanInput { lanes, ..input } };
            let input = PlanInput { at_once: in_flight as u32, ..input };
            match Pipeline::start(&batch, input, None, ctx) {
                Err(Error::OutOfMemory { requested, available, .. }) if group.len() > 1 => {
                    let (name, count) = (C::NAME, group.len());
                    log::info!("msm {name}: {count} vectors together: {requested} bytes wanted, {available} free");
                    halve_range(group).into_iter().rev().for_each(|half| groups.push_front(half));
                }
                pipeline => running.push_back(pipeline?),
            }
        }
        running.into_iter().try_for_each(finish)?;
        Ok(sums)
    }

    /// Returns the part of this batch with the vectors of `range`.
    fn part(&self, range: Range<usize>) -> DeviceBatch<'_, C> {
        DeviceBatch { request: self.request, number: self.number, vectors: &self.vectors[range] }
    }

    fn schedule(&self, ctx: ExecCtx<'_>) -> Result<BatchSchedule> {
        match self.bases() {
            DeviceBases::Host(_) if self.vectors.len() > 1 => self.streamed_schedule(ctx),
            _ => self.joined_schedule(ctx),
        }
    }

    /// Returns the schedule in which groups are sparse matrices: neighbours with equal bit lengths and equal shares of
    /// the devices.
    fn joined_schedule(&self, ctx: ExecCtx<'_>) -> Result<BatchSchedule> {
        let mut groups = VecDeque::new();
        let mut start = 0;
        for alike in self.vectors.chunk_by(VectorShare::can_join) {
            let all = start..start + alike.len();
            start = all.end;
            let input = self.part(all.clone()).plan_input(ctx);
            let size = batch_size(self.request, self.number, input, self.vectors.len())?;
            groups.extend(split_evenly(all, size));
        }
        let longest = groups.iter().map(Range::len).max().unwrap_or(0);
        let in_flight = max_in_flight(longest, groups.len());
        Ok(BatchSchedule { groups, joined: true, lanes: 1, in_flight })
    }

    /// Returns the schedule in which an upload of the bases serves a group. A group has the largest number of vectors
    /// that slows a vector by at most `1/MAX_SLOWDOWN_DIV`.
    fn streamed_schedule(&self, ctx: ExecCtx<'_>) -> Result<BatchSchedule> {
        let input = self.plan_input(ctx);
        let time = |vectors: u32, lanes: u32| {
            let plan = plan_for(self.device(), PlanInput { vectors, lanes, ..input }, &self.request.options)?;
            // The model ignores the work that a second lane hides.
            let time = plan.estimate_chunk_time(input.points) * (OVERLAP_GAIN_DIV + 1 - lanes) / OVERLAP_GAIN_DIV;
            Ok::<_, Error>((time, lanes))
        };
        let (alone, _) = time(1, 1)?;
        let limit = alone + alone / MAX_SLOWDOWN_DIV;
        let best = |count| [2, 1].into_iter().flat_map(|lanes| time(count, lanes)).min();
        let fewer = |count: &u32| (*count > 2).then(|| count.div_ceil(2));
        let mut counts = std::iter::successors(Some(input.vectors), fewer);
        let fits = |count: u32| best(count).filter(|(time, _)| *time <= limit).map(|(_, lanes)| (count, lanes));
        let (count, lanes) = counts.find_map(fits).unwrap_or((1, 1));
        let groups = split_evenly(0..self.vectors.len(), count as usize).collect();
        Ok(BatchSchedule { groups, joined: false, lanes, in_flight: 1 })
    }
}

/// Returns the ranges of up to `most` numbers that `left` is cut into, as equal as possible.
fn split_evenly(mut left: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    std::iter::from_fn(move || {
        let start = left.start;
        left.start += balanced_len(left.len(), most);
        (left.start > start).then_some(start..left.start)
    })
}

fn halve_range(group: Range<usize>) -> [Range<usize>; 2] {
    let middle = group.start + group.len().div_ceil(2);
    [group.start..middle, middle..group.end]
}

/// Caches the number of vectors per matrix, by the plan input of all vectors of equal size.
static BATCH_SIZES: PlanCache<PlanKey, usize> = PlanCache::new();

/// Returns the best number of scalar vectors per sparse matrix on device number `number`: the caller's option, or else
/// the model's choice. `input` is the plan input of all the vectors that can be one matrix, out of `batch` vectors in
/// all. Returns 1 if the bases are not on the device.
///
/// # Errors
/// - [`Error::Device`]: the device does not report its free memory.
pub(crate) fn batch_size<C: MsmCurve>(
    request: &MsmRequest<'_, C>,
    number: usize,
    input: PlanInput,
    batch: usize,
) -> Result<usize> {
    let (options, count) = (&request.options, input.vectors as usize);
    if !input.resident || count <= 1 {
        return Ok(1);
    }
    if options.joined > 0 {
        return Ok(options.joined.min(count));
    }
    let free = quantize_memory(available_bytes(&request.devices[number], 1, options)?);
    let key = PlanKey { input: input.with_joined(input.vectors), count: batch, free };
    Ok(BATCH_SIZES.get_or_insert_with(key, || best_batch_size(key.input, batch, free)))
}

/// Maximum number of vectors for which the workspace of a batch is planned, 512. More vectors only make more groups,
/// which run one after the other.
const MAX_PLANNED_VECTORS: usize = 512;

/// Caches the bytes of workspace of a batch, by the plan input of a vector alone.
static WORKSPACES: PlanCache<PlanKey, u64> = PlanCache::new();

/// Returns the maximum bytes of workspace on `device` of a batch of `vectors` vectors of `points` scalars each. Bases and
/// scalars are on the device, and each sparse matrix may take `limit` bytes. Scalars have full length. Returns the
/// maximum of a `u64` if no plan fits.
pub(crate) fn resident_batch_bytes<C: MsmCurve>(device: &Device, points: usize, vectors: usize, limit: u64) -> u64 {
    if vectors == 0 {
        return 0;
    }
    let vectors = vectors.min(MAX_PLANNED_VECTORS);
    let input = resident_plan_input::<C>(device, points, &MsmOptions::default());
    let key = PlanKey { input, count: vectors, free: limit };
    WORKSPACES.get_or_insert_with(key, || batch_bytes(input, vectors, limit))
}

/// Returns the maximum bytes of workspace of a batch of `vectors` vectors. `input` is the plan input of one vector. Each
/// sparse matrix may take `limit` bytes.
fn batch_bytes(input: PlanInput, vectors: usize, limit: u64) -> u64 {
    let key = PlanKey { input: input.with_joined(vectors as u32), count: vectors, free: quantize_memory(limit) };
    let joined = BATCH_SIZES.get_or_insert_with(key, || best_batch_size(key.input, vectors, key.free));
    let groups: Vec<_> = split_evenly(0..vectors, joined).map(|group| group.len()).collect();
    let at_once = max_in_flight(groups[0], groups.len());
    // Fewer vectors may have larger windows, and take more memory.
    let bytes = |count: &usize| {
        let input = PlanInput { at_once: at_once as u32, ..input.with_joined(*count as u32) };
        plan_within(input, limit).map_or(u64::MAX, |plan| plan.workspace_bytes())
    };
    let bytes: Vec<_> = groups.iter().map(bytes).collect();
    let sum = |in_flight: &[u64]| in_flight.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    bytes.windows(at_once).map(sum).max().unwrap_or(0)
}

/// Batching may slow a vector by at most `1/MAX_SLOWDOWN_DIV` by the model: the buckets of the other vectors leave less
/// memory for windows and chunks.
const MAX_SLOWDOWN_DIV: u32 = 8;
/// Two streams that compute in turns hide `1/OVERLAP_GAIN_DIV` of the time of one stream.
const OVERLAP_GAIN_DIV: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_even_and_follow_one_another() {
        let split = |count: usize, most| split_evenly(3..3 + count, most).collect::<Vec<_>>();
        assert_eq!(split(7, 3), [3..6, 6..8, 8..10]);
        assert_eq!((split(4, 9).first(), split(4, 9).len()), (Some(&(3..7)), 1));
        assert_eq!((split(0, 2).len(), split(2, 0).len()), (0, 2));
        assert_eq!(halve_range(4..9), [4..7, 7..9]);
    }
}
