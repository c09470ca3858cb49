//! Adds up the parts of sums, the host's part of multiplications: weighted sums of windows, and the sums of devices.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use group::Group;

use crate::curve::MsmCurve;
use crate::msm::plan::MsmPlan;
use crate::{Error, Result};

/// Maximum CPU threads that help with a vector. With more, the chain of doublings over its windows still takes longest.
const HELPERS: usize = 3;
/// Time that a thread spins while it waits for work, 2 ms. Waking a thread takes as long as the device's last kernels,
/// or as the work.
const SPIN_LIMIT: Duration = Duration::from_millis(2);

/// Holds rayon tasks that spin until the host's part of a multiplication arrives. Dropping it without work stops them.
pub(super) struct HostWorkers<C: MsmCurve> {
    /// The work, once it has arrived. A late task finds none left.
    work: Arc<OnceLock<WindowSums<C>>>,
    count: usize,
    called: Instant,
}

impl<C: MsmCurve> HostWorkers<C> {
    /// Spawns rayon tasks that will help with `vectors` vectors.
    pub(super) fn wake(vectors: usize) -> Self {
        let count = (HELPERS * vectors).min(rayon::current_num_threads() - 1);
        let helpers = Self { work: Arc::default(), count, called: Instant::now() };
        helpers.spawn_workers();
        helpers
    }

    fn spawn_workers(&self) {
        for _ in 0..self.count {
            let work = Arc::downgrade(&self.work);
            // Unlike a parallel iterator, this does not wait for busy threads.
            rayon::spawn(move || spin_then_help(&work));
        }
    }

    /// Hands `work` to the tasks, helps them, and returns the weighted sum of each vector, in order.
    ///
    /// # Errors
    /// - [`Error::Device`]: a thread has panicked.
    pub(super) fn compute_sums(self, work: WindowSums<C>) -> Result<Vec<C::Curve>> {
        let work = self.work.get_or_init(|| work);
        if self.called.elapsed() > SPIN_LIMIT {
            self.spawn_workers();
        }
        work.compute_remaining_sums();
        let sums = work.chains.found.iter().map(|sum| work.help_until(sum));
        let failed = || work.panicked.get().cloned().unwrap_or_else(|| Error::internal("msm"));
        sums.map(|sum| sum.ok_or_else(failed)).collect()
    }
}

/// Spins until `work` arrives and helps with it. Gives up if that takes longer than `SPIN_LIMIT` or the work is
/// dropped.
fn spin_then_help<C: MsmCurve>(work: &Weak<OnceLock<WindowSums<C>>>) {
    let begun = Instant::now();
    while let Some(work) = work.upgrade() {
        match work.get() {
            Some(work) => return work.compute_remaining_sums(),
            None if begun.elapsed() > SPIN_LIMIT => return,
            None => yield_now(),
        }
    }
}

/// Holds the points that the bucket reduction leaves of vectors with one plan, and the sums computed from them. Each
/// thread takes the next sum that no other has taken. One thread computes the chain of doublings over a vector's sets
/// of windows, several times as fast as a device's work-item would. The other threads compute the sums within the sets,
/// and a chain goes on as these come.
pub(super) struct WindowSums<C: MsmCurve> {
    plan: MsmPlan,
    /// Jacobian coordinates of the points, one vector after the other.
    jacobian: Vec<u8>,
    /// The sum of each vector.
    chains: TaskSlots<C::Curve>,
    /// The sum of each vector within each set of windows: all vectors for the highest set, then for the next lower one.
    sets: TaskSlots<C::Curve>,
    /// The first panic of a thread, which gives up its sum.
    panicked: OnceLock<Error>,
}

impl<C: MsmCurve> WindowSums<C> {
    pub(super) fn new(plan: MsmPlan, jacobian: Vec<u8>, vectors: usize) -> Self {
        let sets = vectors * plan.own_set_count() as usize;
        Self { plan, jacobian, chains: TaskSlots::new(vectors), sets: TaskSlots::new(sets), panicked: OnceLock::new() }
    }

    /// Computes sums that no thread has taken yet, until none is left: chains first, since they take longest.
    fn compute_remaining_sums(&self) {
        while self.chains.run_next_task(&self.panicked, |vector| self.horner_over_windows(vector)) {}
        while self.sum_next_set() {}
    }

    /// Returns the sum of vector number `vector` by Horner's rule over its sets of windows. Returns `None` if a thread
    /// panicked in the sum of a set.
    fn horner_over_windows(&self, vector: usize) -> Option<C::Curve> {
        let plan = &self.plan;
        let sets = self.sets.found.iter().skip(vector).step_by(self.vector_count());
        let mut sets = (plan.first_set..plan.end_set).rev().zip(sets);
        let horner_over_windows = sets.try_fold(C::Curve::identity(), |total, (number, sum)| {
            Some(double_repeatedly(total, plan.window_bits(number)) + self.help_until(sum)?)
        });
        Some(double_repeatedly(horner_over_windows?, plan.first_bit(plan.first_set)))
    }

    /// Returns `point` once a thread has computed it, and sums sets of windows meanwhile. Returns `None` if that thread
    /// panicked.
    fn help_until(&self, point: &OnceLock<Option<C::Curve>>) -> Option<C::Curve> {
        while point.get().is_none() && self.sum_next_set() {}
        let begun = Instant::now();
        while point.get().is_none() && begun.elapsed() < SPIN_LIMIT {
            yield_now();
        }
        *point.wait()
    }

    /// Sums the next set of windows that no thread has taken. Returns whether there was one.
    fn sum_next_set(&self) -> bool {
        let (vectors, sets) = (self.vector_count(), self.plan.own_set_count());
        self.sets.run_next_task(&self.panicked, |number| {
            Some(self.sum_set(number % vectors, sets - 1 - (number / vectors) as u32))
        })
    }

    /// Returns the sum of `vector` within `set`: Horner's rule over the bits of the segments' indices, plus the sums
    /// within segments.
    fn sum_set(&self, vector: usize, set: u32) -> C::Curve {
        let (plan, sums) = (&self.plan, self.plan.reduced_point_count() as usize);
        let bytes = self.jacobian.len() / (self.vector_count() * sums);
        let (bits, first) = (plan.segment_index_bits(), set * (plan.segment_index_bits() + 1));
        let point = |bit: u32| {
            let start = (vector * sums + (first + bit) as usize) * bytes;
            C::from_device(&self.jacobian[start..start + bytes])
        };
        let segments = (0..bits).rev().fold(C::Curve::identity(), |total, bit| total.double() + point(bit));
        double_repeatedly(segments, plan.weight_exponent(first) - plan.first_bit(plan.first_set + set)) + point(bits)
    }

    fn vector_count(&self) -> usize {
        self.chains.found.len()
    }
}

/// Holds points by index, each computed by the thread that takes it. A point is `None` if that thread panicked.
struct TaskSlots<P> {
    taken: AtomicUsize,
    found: Vec<OnceLock<Option<P>>>,
}

impl<P> TaskSlots<P> {
    fn new(count: usize) -> Self {
        Self { taken: AtomicUsize::new(0), found: std::iter::repeat_with(OnceLock::new).take(count).collect() }
    }

    /// Computes the next point that no thread has taken yet by calling `find` with its number. Returns whether there
    /// was one. Stores the first panic in `panicked`.
    fn run_next_task(&self, panicked: &OnceLock<Error>, find: impl FnOnce(usize) -> Option<P>) -> bool {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let Some(place) = self.found.get(number) else { return false };
        // Threads that wait for the point have to learn of a panic.
        let give_up = |panic: Box<dyn Any + Send>| {
            panicked.get_or_init(|| Error::worker_panicked("msm", &*panic));
            None
        };
        place.get_or_init(|| catch_unwind(AssertUnwindSafe(|| find(number))).unwrap_or_else(give_up));
        true
    }
}

/// Adds up `parts`, which hold a point for each of `vectors` vectors, such as those of one device each. Returns a sum per
/// vector.
pub(super) fn add_parts<G: Group>(vectors: usize, mut parts: impl Iterator<Item = Result<Vec<G>>>) -> Result<Vec<G>> {
    // There may be no points, and thus no device with a part.
    let first = parts.next().unwrap_or_else(|| Ok(vec![G::identity(); vectors]))?;
    parts.try_fold(first, |mut totals, part| {
        totals.iter_mut().zip(part?).for_each(|(total, sum)| *total += sum);
        Ok(totals)
    })
}

/// Returns the only one of `sums`, those of a request with one vector.
pub(crate) fn single_sum<G>(sums: Vec<G>) -> Result<G> {
    sums.into_iter().next().ok_or_else(|| Error::internal("msm"))
}

/// Returns 2^`times` · `point`. Infinity, which chains of doublings begin with, needs no doublings.
fn double_repeatedly<G: Group>(point: G, times: u32) -> G {
    if point.is_identity().into() { point } else { (0..times).fold(point, |point, _| point.double()) }
}

#[cfg(test)]
mod tests {
    use blst::blst_p1;
    use blstrs::{G1Affine, G1Projective};

    use super::*;
    use crate::msm::plan::tests::sample_plan_input;
    use crate::msm::plan::{PlanInput, WindowAssignment};

    /// Returns a plan for the most expensive of `groups` groups of windows. Returns also the Jacobian points that a
    /// device could leave of `vectors` vectors, and the sum of each vector.
    fn sample_reduction(vectors: u32, groups: u32) -> (MsmPlan, Vec<u8>, Vec<G1Projective>) {
        let own = WindowAssignment::WindowGroup(groups);
        let plan = MsmPlan::new(PlanInput { own, ..sample_plan_input(1 << 14, true) }.with_joined(vectors));
        let points = std::iter::successors(Some(G1Projective::generator()), |point| Some(point.double() + point));
        let points: Vec<_> = points.take((vectors * plan.reduced_point_count()) as usize).collect();
        let vectors = points.chunks(plan.reduced_point_count() as usize);
        let weighted = |points: &[G1Projective]| {
            points.iter().zip(0..).map(|(p, i)| double_repeatedly(*p, plan.weight_exponent(i))).sum()
        };
        let sums = vectors.map(weighted).collect();
        (plan, points.iter().flat_map(jacobian_bytes).collect(), sums)
    }

    fn jacobian_bytes(point: &G1Projective) -> Vec<u8> {
        let blst_p1 { x, y, z } = point.as_ref();
        [x, y, z].into_iter().flat_map(|coordinate| coordinate.l).flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn sums_are_weighted() {
        for (vectors, groups) in [(1, 1), (1, 3), (2, 1), (6, 1), (6, 2)] {
            let (plan, jacobian, expected) = sample_reduction(vectors, groups);
            for early in [Duration::ZERO, SPIN_LIMIT / 4, 2 * SPIN_LIMIT] {
                let helpers = HostWorkers::<G1Affine>::wake(expected.len());
                std::thread::sleep(early);
                let sums = helpers.compute_sums(WindowSums::new(plan, jacobian.clone(), expected.len()));
                assert_eq!(sums.expect("no panic"), expected, "{vectors} vectors, {early:?} early");
            }
        }
    }

    /// Checks that eight concurrent callers get their sums in pools of one thread and of four, whose threads they keep
    /// busy.
    #[test]
    fn nobody_waits_for_helpers() {
        let (plan, jacobian, expected) = sample_reduction(3, 1);
        let run = || {
            let helpers = HostWorkers::<G1Affine>::wake(3);
            let sums = helpers.compute_sums(WindowSums::new(plan, jacobian.clone(), 3)).expect("no panic");
            assert_eq!(sums, expected);
        };
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| rayon::scope(|scope| (0..8).for_each(|_| scope.spawn(|_| run()))));
        }
    }

    #[test]
    fn panics_are_errors() {
        let (plan, mut jacobian, expected) = sample_reduction(2, 1);
        jacobian.truncate(jacobian.len() / 2);
        let sums = HostWorkers::<G1Affine>::wake(2).compute_sums(WindowSums::new(plan, jacobian, expected.len()));
        assert!(
            matches!(&sums, Err(Error::Device { reason, .. }) if reason.contains("a worker thread panicked: ")),
            "{sums:?}"
        );
    }

    /// Checks that each vector's points are added up over all parts, and that the error of a part is the result.
    #[test]
    fn parts_are_added_by_vector() {
        let g = G1Projective::generator();
        let parts = [vec![g, g.double()], vec![g.double(), g]];
        let sums = add_parts(2, parts.into_iter().map(Ok)).expect("no error");
        assert_eq!(sums, [g.double() + g; 2]);
        assert_eq!(add_parts::<G1Projective>(2, std::iter::empty()).expect("no error"), [G1Projective::identity(); 2]);
        assert!(add_parts(1, [Ok(vec![g]), Err(Error::internal("msm"))].into_iter()).is_err());
        assert!(single_sum(vec![g]).is_ok_and(|sum| sum == g) && single_sum::<G1Projective>(Vec::new()).is_err());
    }

    #[test]
    fn helpers_without_work_go() {
        let helpers = HostWorkers::<G1Affine>::wake(4);
        let work = Arc::downgrade(&helpers.work);
        drop(helpers);
        while work.upgrade().is_some() {
            yield_now();
        }
    }
}
