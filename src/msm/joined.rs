//! Vectors of a batch over bases that are on the device: several are one sparse matrix, and what its kernels wait for, they
//! wait for once.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::gpu::{Bases, IN_FLIGHT, Work, job, parts};
use super::grid::Split;
use super::kept::{available, rounded};
use super::pipeline::{Job, Pipeline, Vector};
use super::plan::{Plan, Problem};
use super::table::{Need, problem};
use super::together::even;
use crate::backend::{Abort, Device, Traffic};
use crate::curve::MsmCurve;
use crate::{Error, Result};

/// Most vectors of a matrix: more would share little more, and leave nothing for the host's part to hide behind.
pub(super) const MOST: usize = 16;
/// Groups of joined vectors that are under way at once.
const GROUPS_IN_FLIGHT: usize = 2;
/// What a byte takes from the host, in ps: nothing hides the first group's scalars.
const UPLOADED_BYTE: u64 = 20;

/// The vectors of a batch, as far as one device has to do with them.
struct Batch<'a, C> {
    device: &'a Arc<Device>,
    number: usize,
    work: Work<'a, C>,
    splits: &'a [Split],
    vectors: Vec<Vector<'a>>,
    abort: Abort<'a>,
}

/// The share of a device in every vector, some of them under way at once.
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
    /// Vectors side by side that are alike, in groups to be joined.
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

    /// Vectors of other lengths would have windows for nothing.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        self.vectors[one].bits == self.vectors[other].bits && self.splits[one] == self.splits[other]
    }

    /// How many of some that are alike are best joined.
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

    /// A group under way; none if it is several vectors for which there is too little memory: somebody else has taken what was
    /// free, or the caller wants more of them joined than fit.
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

/// Groups of a number that are under way at once, of so many vectors at most.
fn in_flight(longest: usize, groups: usize) -> usize {
    groups.clamp(1, if longest > 1 { GROUPS_IN_FLIGHT } else { IN_FLIGHT })
}

/// How many vectors that are alike are best joined on a device: as the caller says, or as is fastest by the model. The need is
/// that of all of them, in a batch of so many.
///
/// # Errors
/// The device does not say how much memory it has free.
pub(super) fn most<C: MsmCurve>(
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
    Ok(work.choices.joins.find((problem, batch, free), || cheapest(problem, batch, free)))
}

/// The number of vectors to be joined that takes least time, of some; fewer where more gain nothing.
fn cheapest(problem: Problem, batch: usize, free: u64) -> usize {
    let count = problem.vectors as usize;
    let fewer = |joined: &usize| (*joined > 1).then(|| joined.div_ceil(2));
    let candidates = std::iter::successors(Some(even(count, MOST)), fewer);
    let timed = candidates.filter_map(|joined| Some((time(problem, joined, batch, free)?, joined)));
    timed.min().map_or(1, |(_, joined)| joined)
}

/// What all of the vectors take by the model if so many are joined; nothing where these do not fit.
fn time(problem: Problem, joined: usize, batch: usize, free: u64) -> Option<u64> {
    let vectors = u64::from(problem.vectors);
    let others = batch - problem.vectors as usize;
    let at_once = in_flight(joined, (vectors as usize).div_ceil(joined) + others) as u32;
    let group = Problem { vectors: joined as u32, joined: joined as u32, at_once, ..problem };
    let plan = Plan::fit(group, free / u64::from(at_once)).ok()?;
    let bytes = if problem.scalars_resident { 0 } else { 32 * plan.chunk.min(problem.points) * joined };
    Some(plan.cost() * vectors / joined as u64 + UPLOADED_BYTE * bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::problem;
    use super::*;

    /// Vectors that are alike, of scalars and bases that are on an H200.
    fn alike(vectors: u32, points: usize, affine_bytes: u64) -> Problem {
        Problem { affine_bytes, vectors, joined: vectors, ..problem(points, true) }
    }

    #[test]
    fn fewer_are_joined_the_more_points_there_are() {
        for affine_bytes in [64, 96, 192] {
            let joined = |log_n: u32| cheapest(alike(6, 1 << log_n, affine_bytes), 6, 1 << 37);
            let counts: Vec<usize> = (10..=26).step_by(2).map(joined).collect();
            assert_eq!((counts[0], counts.iter().min()), (6, counts.last()), "{counts:?}");
        }
        assert_eq!(cheapest(alike(100, 1 << 14, 96), 100, 1 << 37), 15, "seven groups of 15 at most");
    }

    /// What a batch of six gains by the model over three at a time, each for itself.
    #[test]
    fn batches_of_six_gain() {
        for (log_n, least) in [(14, 150), (16, 130), (18, 110), (20, 103)] {
            let time = |joined| time(alike(6, 1 << log_n, 96), joined, 6, 1 << 37).expect("fits");
            let best = time(cheapest(alike(6, 1 << log_n, 96), 6, 1 << 37));
            assert!(time(1) * 100 > best * least, "2^{log_n}: {} ps for {}", best, time(1));
        }
    }

    /// Nothing hides the first group's scalars where they come from the host, so that it has fewer.
    #[test]
    fn uploads_make_groups_smaller() {
        let on_host = |points| Problem { scalars_resident: false, ..alike(8, points, 96) };
        let counts = [alike(8, 1 << 20, 96), on_host(1 << 20)].map(|problem| cheapest(problem, 8, 1 << 37));
        assert!(counts[1] < counts[0], "{counts:?}");
    }

    #[test]
    fn what_does_not_fit_is_not_joined() {
        let all = alike(6, 1 << 18, 96);
        let requested = Plan::fit(Problem { vectors: 2, joined: 2, at_once: 2, ..all }, 0).expect_err("nothing fits");
        assert!(time(all, 2, 6, 2 * requested).is_some() && time(all, 2, 6, requested).is_none());
        assert_eq!(cheapest(all, 6, requested), 1);
        assert!(time(all, 6, 6, 1 << 20).is_none());
    }
}
