//! Multiplies vectors of a batch over bases on the device. Several vectors are one sparse matrix, so that its kernels
//! wait only once.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::job::{Job, Vector, job, parts};
use super::pipeline::Pipeline;
use super::plans::{available, rounded};
use super::work::{Bases, Work};
use crate::backend::{Abort, Device, Traffic};
use crate::curve::MsmCurve;
use crate::msm::bases::problem;
use crate::msm::plan::{Need, Split, best_joined, even, in_flight};
use crate::{Error, Result};

/// Holds one device's part of the vectors of a batch.
struct Batch<'a, C> {
    device: &'a Arc<Device>,
    number: usize,
    work: Work<'a, C>,
    splits: &'a [Split],
    vectors: Vec<Vector<'a>>,
    abort: Abort<'a>,
}

/// Computes a device's share of every vector, with several vectors in flight.
pub(super) fn on_device<C: MsmCurve>(
    device: &Arc<Device>,
    number: usize,
    (work, splits): (Work<'_, C>, &[Split]),
    abort: Abort<'_>,
) -> Result<(Vec<C::Curve>, Traffic)> {
    let vectors = parts(device, number, &work, splits)?;
    let batch = Batch { device, number, work, splits, vectors, abort };
    batch.run(batch.groups()?)
}

impl<C: MsmCurve> Batch<'_, C> {
    /// Returns the groups to be joined: neighbours that are alike.
    fn groups(&self) -> Result<VecDeque<Range<usize>>> {
        let mut groups = VecDeque::new();
        let mut start = 0;
        while start < self.vectors.len() {
            let alike = (start..self.vectors.len()).take_while(|other| self.are_alike(start, *other));
            let end = start + alike.count();
            let most = self.most(start..end)?;
            while start < end {
                let next = start + even(end - start, most);
                groups.push_back(start..next);
                start = next;
            }
        }
        Ok(groups)
    }

    /// Returns whether two vectors have equally long scalars and are split alike. A shorter vector would have unused
    /// windows.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        self.vectors[one].bits == self.vectors[other].bits && self.splits[one] == self.splits[other]
    }

    /// Returns how many vectors of the range `alike` are best joined.
    fn most(&self, alike: Range<usize>) -> Result<usize> {
        let need = Need { joined: true, ..self.job(alike).need(1, self.abort) };
        most(self.device, &self.work, (self.number, need), self.vectors.len())
    }

    fn job(&self, group: Range<usize>) -> Job<'_, C> {
        let (first, vectors) = (group.start, &self.vectors[group]);
        job(&self.work, self.number, (self.work.vectors[first].len(), &self.splits[first]), vectors)
    }

    fn run(&self, mut groups: VecDeque<Range<usize>>) -> Result<(Vec<C::Curve>, Traffic)> {
        let longest = groups.iter().map(Range::len).max().unwrap_or(0);
        let at_once = in_flight(longest, groups.len());
        let mut running = VecDeque::new();
        let mut total = (Vec::with_capacity(self.vectors.len()), Traffic::default());
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
            match self.start(group.clone(), at_once)? {
                Some(pipeline) => running.push_back(pipeline),
                None => halves(group).into_iter().rev().for_each(|half| groups.push_front(half)),
            }
        }
        running.into_iter().try_for_each(finish)?;
        Ok(total)
    }

    /// Starts `group`. Returns `None` if it is several vectors and memory does not suffice: other work took it, or the
    /// caller wants to join more than fit.
    fn start(&self, group: Range<usize>, at_once: usize) -> Result<Option<Pipeline>> {
        let (joined, job) = (group.len(), self.job(group));
        match Pipeline::start((self.device, None), job, &self.work.options, at_once as u32, self.abort) {
            Err(Error::OutOfMemory { requested, available, .. }) if joined > 1 => {
                log::info!("msm {}: {joined} vectors joined: {requested} bytes wanted, {available} free", C::NAME);
                Ok(None)
            }
            pipeline => pipeline.map(Some),
        }
    }
}

fn halves(group: Range<usize>) -> [Range<usize>; 2] {
    let middle = group.start + group.len().div_ceil(2);
    [group.start..middle, middle..group.end]
}

/// Returns how many vectors, all alike, are best joined on `device`: as the caller says, or else by the model. `need`
/// is that of all of them together, in a batch of `batch` vectors.
///
/// # Errors
/// Returns the error of a device that does not report its free memory.
pub(crate) fn most<C: MsmCurve>(
    device: &Device,
    work: &Work<'_, C>,
    (number, need): (usize, Need),
    batch: usize,
) -> Result<usize> {
    let count = need.vectors as usize;
    let (Some(Bases::Device(table)), true) = (work.bases.get(number), count > 1) else { return Ok(1) };
    if work.options.joined > 0 {
        return Ok(work.options.joined.min(count));
    }
    let free = rounded(available(device, 1, &work.options)?);
    let problem = problem::<C>(device, Some(table), need, &work.options);
    Ok(work.choices.joins.find((problem, batch, free), || best_joined(problem, batch, free)))
}
