//! Locates windows of two widths among bits and buckets. Cuts buckets into segments for the reduction, and numbers the
//! sums that it leaves for the host.

use std::ops::Range;

use super::cost_constants::{CostConstants, UNITS};
use super::msm_plan::MsmPlan;

impl MsmPlan {
    /// Returns the number of sets before `set` whose windows have `c` bits, not `c` − 1 (`wide_before` of
    /// `cl/msm_digits.cl`).
    fn count_wide_sets_before(&self, set: u32) -> u32 {
        (set * self.wide_windows).div_ceil(self.sets)
    }

    /// Returns the number of bits of each window of `set`, a set of windows that share buckets.
    pub(crate) fn window_bits(&self, set: u32) -> u32 {
        self.c - 1 + self.count_wide_sets_before(set + 1) - self.count_wide_sets_before(set)
    }

    /// Returns the index of the lowest scalar bit in `window`. For `windows`, one past the last window, it is the
    /// number of bits of all windows.
    pub(crate) fn first_bit(&self, window: u32) -> u32 {
        let all = |sets: u32| sets * (self.c - 1) + self.count_wide_sets_before(sets);
        window / self.sets * all(self.sets) + all(window % self.sets)
    }

    /// Returns the number of buckets of `set`: one per absolute value 1 … 2^(bits−1) of a digit.
    pub(crate) fn bucket_count(&self, set: u32) -> u32 {
        1 << (self.window_bits(set) - 1)
    }

    /// Returns the index of the first bucket of `set` among the buckets of all sets.
    pub(crate) fn global_first_bucket(&self, set: u32) -> u32 {
        (set + self.count_wide_sets_before(set)) << (self.c - 2)
    }

    /// Returns the number of sets of windows (those that share buckets) that the device computes.
    pub(crate) fn own_set_count(&self) -> u32 {
        self.end_set - self.first_set
    }

    /// Returns the number of buckets of the device's windows, for one vector.
    pub(crate) fn own_bucket_count(&self) -> u32 {
        self.local_first_bucket(self.end_set)
    }

    /// Returns the number of buckets of the device's windows, for all vectors of a matrix.
    pub(crate) fn joined_bucket_count(&self) -> u32 {
        self.vectors_per_matrix() * self.own_bucket_count()
    }

    /// Returns the index of the first bucket of `set` among the buckets of the device's sets.
    pub(crate) fn local_first_bucket(&self, set: u32) -> u32 {
        self.global_first_bucket(set) - self.global_first_bucket(self.first_set)
    }
    /// Returns the points of `chunk` that the device handles in `set`, counted from the chunk's start. In the first of
    /// the device's sets, points before `skip` are left to the device of the previous windows. In its last set, points
    /// from `until` on are left to the device of the next windows.
    pub(crate) fn set_point_range(&self, set: u32, chunk: &Range<usize>) -> Range<u32> {
        let within = |point: usize| (point.clamp(chunk.start, chunk.end) - chunk.start) as u32;
        let start = if set == self.first_set { self.skip } else { 0 };
        let end = if set + 1 == self.end_set { self.until } else { self.problem.points };
        within(start)..within(end)
    }
}

/// Minimum buckets of a segment (consecutive buckets that are reduced together), 4: the work that follows costs as much
/// as a segment of this length.
const MIN_SEGMENT: u64 = 4;
/// Maximum buckets of a segment that one work-item reduces, 64: longer segments were slower, however many there were.
const MAX_SEGMENT: u64 = 64;
/// Segments of buckets whose totals one workgroup of `msm_weighted_bit_sums` adds up.
const PART: u32 = 64;

impl MsmPlan {
    /// Returns this plan with the segment length that is fastest by the model. A segment is reduced by one work-item,
    /// or by four; with four, all segments run at once.
    pub(super) fn with_segments(self) -> Self {
        let (costs, units) =
            (CostConstants::for_affine_bytes(self.problem.affine_bytes), u64::from(self.problem.compute_units));
        let (rows, longest) = (u64::from(self.joined_bucket_count()), u64::from(self.bucket_count(0)));
        let of = |length: u64, quads: bool| Self { segment: length.min(longest) as u32, quads, ..self };
        // Segments are long enough that all of them run at once. Those of narrow windows count like others if each has
        // four work-items.
        let places = u64::from(self.vectors_per_matrix() * self.own_set_count()) * longest;
        let at_once = |buckets: u64, most: u64| buckets.div_ceil(most).next_power_of_two().max(MIN_SEGMENT);
        let by_quads = of(at_once(places, costs.quad_segment_capacity(units)), true);
        let least = at_once(rows, costs.scalar_segment_capacity(units));
        let by_items = [least, 2 * least].map(|length| of(length.min(MAX_SEGMENT), false));
        by_items
            .into_iter()
            .fold(by_quads, |best, plan| if plan.reduction_cost() < best.reduction_cost() { plan } else { best })
    }

    /// Returns the cost of the bucket reduction by the model, in ps. It is scaled to `UNITS` compute units, like all
    /// other costs, since a smaller device takes longer for those too.
    pub(super) fn reduction_cost(&self) -> u64 {
        let (costs, units) =
            (CostConstants::for_affine_bytes(self.problem.affine_bytes), u64::from(self.problem.compute_units));
        let (count, longest) = (u64::from(self.joined_segment_count()), u64::from(self.segment));
        let chains = match self.quads {
            true => costs.quad_segments_cost(count, longest, units),
            false => costs.scalar_segments_cost(count, longest, u64::from(self.joined_bucket_count()), units),
        };
        chains * units / UNITS + costs.segment_sums_cost(count, u64::from(self.segment_index_bits()))
    }

    /// Returns the number of segments that a window's buckets are cut into for the reduction.
    pub(crate) fn segment_count(&self) -> u32 {
        self.bucket_count(0) / self.segment
    }

    /// Returns the number of segments of all the device's windows, for all vectors of a matrix.
    pub(crate) fn joined_segment_count(&self) -> u32 {
        self.vectors_per_matrix() * self.own_set_count() * self.segment_count()
    }

    /// Returns the binary logarithm of the number of segments of a window, which is the number of bits of a segment's
    /// index.
    pub(crate) fn segment_index_bits(&self) -> u32 {
        self.segment_count().ilog2()
    }

    /// Returns the number of parts that each sum over a window's segments is divided into; one workgroup computes a
    /// part.
    pub(crate) fn sum_part_count(&self) -> u32 {
        (self.segment_count() / 2).div_ceil(PART).max(1)
    }

    /// Returns the number of points that the reduction of a vector leaves for the host. Each window leaves one for
    /// every bit of a segment's index, and one for the sums within its segments.
    pub(crate) fn reduced_point_count(&self) -> u32 {
        self.own_set_count() * (self.segment_index_bits() + 1)
    }

    /// Returns the weight of point `sum` of the reduction as a binary logarithm: the point is multiplied by 2 to this
    /// power.
    pub(crate) fn weight_exponent(&self, sum: u32) -> u32 {
        let (window, bit) =
            (self.first_set + sum / (self.segment_index_bits() + 1), sum % (self.segment_index_bits() + 1));
        let segment = self.bucket_count(window) / self.segment_count();
        let within = if bit == self.segment_index_bits() { 0 } else { segment.ilog2() + bit };
        self.first_bit(window) + within
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msm::plan::PlanInput;
    use crate::msm::plan::mesh::WindowWidths;
    use crate::msm::plan::tests::{grouped_plans, sample_plan_input};

    #[test]
    fn wide_sets_are_spread_evenly() {
        for (_, plan) in grouped_plans() {
            assert_eq!(plan.window_bits(0), plan.c);
            for (from, to) in (0..=plan.sets).flat_map(|from| (from..=plan.sets).map(move |to| (from, to))) {
                let wide = (from..to).filter(|set| plan.window_bits(*set) == plan.c).count() as u32;
                assert!(
                    (wide * plan.sets).abs_diff((to - from) * plan.wide_windows) < plan.sets,
                    "{from}..{to} of {plan:?}"
                );
            }
        }
    }

    fn sample_plan(log_n: u32, affine_bytes: u64, vectors: u32, window: u32) -> MsmPlan {
        let one = PlanInput { affine_bytes, window, halved: Some(false), ..sample_plan_input(1 << log_n, true) };
        MsmPlan::new(PlanInput { vectors, joined: vectors, ..one })
    }

    /// Checks that the model chooses the segments that were fastest on an H200 (benches/notes/msm.md, section 23):
    /// their length, and the work-items of each.
    #[test]
    fn the_faster_ones_reduce() {
        for (plan, expected) in [
            (sample_plan(16, 96, 1, 13), true),
            (sample_plan(18, 192, 1, 14), true),
            (sample_plan(20, 96, 1, 16), true),
            (sample_plan(20, 96, 6, 16), false),
            (sample_plan(24, 96, 1, 20), false),
            (sample_plan(22, 64, 1, 18), false),
        ] {
            assert_eq!(plan.quads, expected, "{plan:?}");
        }
        assert_eq!([sample_plan(20, 96, 6, 16), sample_plan(24, 96, 1, 20)].map(|plan| plan.segment), [64, 64]);
    }

    #[test]
    fn fewer_buckets_take_less() {
        for affine_bytes in [64, 96, 128, 192] {
            let takes: Vec<u64> = (8..=20).map(|c| sample_plan(20, affine_bytes, 1, c).reduction_cost()).collect();
            assert!(takes.is_sorted(), "{takes:?} for {affine_bytes} bytes");
        }
    }

    /// Checks that the reduction never takes longer if some of the windows have `c` − 1 bits instead of `c`.
    #[test]
    fn narrow_windows_take_no_longer() {
        for (affine_bytes, c) in [64, 96, 128, 192].into_iter().flat_map(|bytes| (4..=20).map(move |c| (bytes, c))) {
            for (compute_units, vectors) in [(2, 1), (132, 1), (132, 6)] {
                let problem =
                    PlanInput { affine_bytes, compute_units, vectors, joined: vectors, ..sample_plan_input(60, true) };
                let [narrow, wide] =
                    [true, false].map(|narrow| MsmPlan::with_widths(problem, 60, WindowWidths { c, narrow }, 0, false));
                assert!(narrow.reduction_cost() <= wide.reduction_cost(), "{narrow:?} against {wide:?}");
            }
        }
    }
}
