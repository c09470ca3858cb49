//! Chooses how many vectors of a batch are one matrix, and how many matrices are in flight at once.

use super::msm_plan::MsmPlan;
use super::plan_input::PlanInput;

/// Maximum multiplications in flight at once if each is by one vector of a batch. The host's part of one, and the last
/// workgroups of its kernels, overlap another.
pub(crate) const IN_FLIGHT: usize = 3;
/// Maximum scalar vectors that are multiplied as one sparse matrix, 16: more would share little more, and leave nothing
/// to overlap the host's part.
pub(crate) const MAX_BATCH: usize = 16;
/// Maximum sparse matrices in flight at once if one of them holds several scalar vectors.
const GROUPS_IN_FLIGHT: usize = 2;
/// Cost of uploading a byte of scalars from the host, in ps. It counts for the first matrix only: later uploads overlap
/// with kernels.
const UPLOADED_BYTE: u64 = 20;

/// Returns the length of the next part of `count` items. Parts are as equal as possible, and none is longer than
/// `most`.
pub(crate) fn balanced_len(count: usize, most: usize) -> usize {
    count.div_ceil(count.div_ceil(most.max(1)).max(1))
}

/// Returns how many of `groups` sparse matrices are in flight at once. Each holds one or more scalar vectors, the
/// largest one `longest` vectors.
pub(crate) fn max_in_flight(longest: usize, groups: usize) -> usize {
    groups.clamp(1, if longest > 1 { GROUPS_IN_FLIGHT } else { IN_FLIGHT })
}

/// Returns the number of scalar vectors per sparse matrix that takes the least time by the model. Of equally fast
/// numbers it is the smallest. `problem` holds the number and size of the vectors to join, in a batch of `batch`
/// vectors. The device has `free` bytes.
pub(crate) fn best_batch_size(problem: PlanInput, batch: usize, free: u64) -> usize {
    let count = problem.vectors as usize;
    let fewer = |joined: &usize| (*joined > 1).then(|| joined.div_ceil(2));
    let candidates = std::iter::successors(Some(balanced_len(count, MAX_BATCH)), fewer);
    let timed = candidates.filter_map(|joined| Some((estimate_batch_time(problem, joined, batch, free)?, joined)));
    timed.min().map_or(1, |(_, joined)| joined)
}

/// Returns the time of all scalar vectors of `problem` by the model, in ps, with `joined` vectors per sparse matrix.
/// The batch has `batch` vectors. Returns `None` if `free` bytes do not suffice for such matrices.
fn estimate_batch_time(problem: PlanInput, joined: usize, batch: usize, free: u64) -> Option<u64> {
    let vectors = u64::from(problem.vectors);
    let others = batch - problem.vectors as usize;
    let at_once = max_in_flight(joined, (vectors as usize).div_ceil(joined) + others) as u32;
    let group = PlanInput { at_once, ..problem.with_joined(joined as u32) };
    let plan = MsmPlan::fit(group, free / u64::from(at_once)).ok()?;
    let bytes = if problem.scalars_resident { 0 } else { 32 * plan.chunk.min(problem.points) * joined };
    Some(plan.cost() * vectors / joined as u64 + UPLOADED_BYTE * bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample_plan_input;
    use super::*;

    /// Returns the plan input of `vectors` vectors of equal size, with scalars and bases on an H200.
    fn uniform_batch(vectors: u32, points: usize, affine_bytes: u64) -> PlanInput {
        PlanInput { affine_bytes, ..sample_plan_input(points, true) }.with_joined(vectors)
    }

    #[test]
    fn fewer_are_joined_the_more_points_there_are() {
        for affine_bytes in [64, 96, 192] {
            let joined = |log_n: u32| best_batch_size(uniform_batch(6, 1 << log_n, affine_bytes), 6, 1 << 37);
            let counts: Vec<usize> = (10..=26).step_by(2).map(joined).collect();
            assert_eq!((counts[0], counts.iter().min()), (6, counts.last()), "{counts:?}");
        }
        assert_eq!(best_batch_size(uniform_batch(100, 1 << 14, 96), 100, 1 << 37), 15, "seven groups of 15 at most");
    }

    /// Checks that by the model six vectors in matrices of the best size take less time than one vector per matrix.
    #[test]
    fn batches_of_six_gain() {
        for (log_n, least) in [(14, 150), (16, 130), (18, 110), (20, 103)] {
            let time =
                |joined| estimate_batch_time(uniform_batch(6, 1 << log_n, 96), joined, 6, 1 << 37).expect("fits");
            let best = time(best_batch_size(uniform_batch(6, 1 << log_n, 96), 6, 1 << 37));
            assert!(time(1) * 100 > best * least, "2^{log_n}: {} ps for {}", best, time(1));
        }
    }

    /// Checks that matrices have fewer vectors if scalars come from the host, since nothing hides the first upload.
    #[test]
    fn uploads_make_groups_smaller() {
        let on_host = |points| PlanInput { scalars_resident: false, ..uniform_batch(8, points, 96) };
        let counts =
            [uniform_batch(8, 1 << 20, 96), on_host(1 << 20)].map(|problem| best_batch_size(problem, 8, 1 << 37));
        assert!(counts[1] < counts[0], "{counts:?}");
    }

    #[test]
    fn what_does_not_fit_is_not_joined() {
        let all = uniform_batch(6, 1 << 18, 96);
        let requested = MsmPlan::fit(PlanInput { at_once: 2, ..all.with_joined(2) }, 0).expect_err("nothing fits");
        assert!(
            estimate_batch_time(all, 2, 6, 2 * requested).is_some()
                && estimate_batch_time(all, 2, 6, requested).is_none()
        );
        assert_eq!(best_batch_size(all, 6, requested), 1);
        assert!(estimate_batch_time(all, 6, 6, 1 << 20).is_none());
    }
}
