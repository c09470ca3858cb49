//! Groups of windows: a device's share of a vector.

use std::ops::Range;

use super::cost_constants::{CostConstants, ENTRY};
use super::msm_plan::MsmPlan;
use super::window_bands_and_rounds::MAX_BINS;

/// Maximum entries of a band's matrix, 2^28, if memory allows. It is large since every band reads all scalars, and
/// every round waits for inversions.
const BAND_ENTRIES: u64 = 1 << 28;

/// Fixed-point unit of positions where groups of windows start and end, 2^16: one set of windows (those that share
/// buckets).
pub(super) const FIXED_ONE: u32 = 1 << 16;
/// Minimum part of a set of windows in a group, 1/32 of the set in fixed point: less is not worth buckets of its own.
const MIN_GROUP_PART: u32 = FIXED_ONE / 32;

impl MsmPlan {
    /// Returns the plan limited to the range `sets` of sets of windows, in 1/`FIXED_ONE` of a set, with a band and
    /// segments chosen for these. If the range starts or ends within a set, the plan has a part of that set's points.
    pub(super) fn restrict_sets(self, sets: Range<u32>) -> Self {
        let points = self.problem.points;
        let part = |position: u32| (points as u64 * u64::from(position % FIXED_ONE) / u64::from(FIXED_ONE)) as usize;
        let (skip, until) =
            (part(sets.start), if sets.end.is_multiple_of(FIXED_ONE) { points } else { part(sets.end) });
        let (first_set, end_set) = (sets.start / FIXED_ONE, sets.end.div_ceil(FIXED_ONE));
        let plan = Self { first_set, end_set, skip, until, ..self };
        let rows = u64::from(plan.rows_per_bucket() * plan.bucket_count(0));
        let entries = plan.chunk.min(plan.problem.points) as u64
            * u64::from(plan.scalar_digits_per_window_set() * plan.vectors_per_matrix());
        let most = (MAX_BINS / (rows >> plan.low_bit_count())).clamp(1, u64::from(plan.own_set_count()).max(1));
        let band = (BAND_ENTRIES / entries.max(1)).clamp(1, most) as u32;
        Self { band, ..plan }.with_segments()
    }

    /// Returns the plan for all sets of windows, even if the device computes only some of them.
    pub(crate) fn unrestricted(self) -> Self {
        self.restrict_sets(0..self.sets * FIXED_ONE)
    }

    /// Divides the windows into `count` consecutive groups of equal cost by the model. Each returned range is one of
    /// sets of windows, in 1/`FIXED_ONE` of a set. If a range ends within a set, the groups on both sides divide its
    /// points between them.
    pub(crate) fn balanced_groups(&self, count: u32) -> Vec<Range<u32>> {
        let bound = |group| self.cost_fraction_position(group, count);
        (0..count).map(|group| bound(group)..bound(group + 1)).collect()
    }

    /// Returns the position among the sets of windows, in 1/`FIXED_ONE` of a set, that `part`/`of` of the cost
    /// precedes. A position close to the start or end of a set is rounded to it.
    fn cost_fraction_position(&self, part: u32, of: u32) -> u32 {
        let wanted = (u128::from(self.cost_before(self.sets)) * u128::from(part) / u128::from(of)) as u64;
        let next = (0..self.sets).find(|set| self.cost_before(set + 1) > wanted);
        let Some(set) = next else { return self.sets * FIXED_ONE };
        let (start, end) = (self.cost_before(set), self.cost_before(set + 1));
        let within = (u128::from(wanted - start) * u128::from(FIXED_ONE) / u128::from(end - start)) as u32;
        match within {
            0..MIN_GROUP_PART => set * FIXED_ONE,
            _ if within > FIXED_ONE - MIN_GROUP_PART => (set + 1) * FIXED_ONE,
            _ => set * FIXED_ONE + within,
        }
    }

    pub(super) fn costliest_group_sets(&self, count: u32) -> Range<u32> {
        if count == 1 {
            return 0..self.sets * FIXED_ONE;
        }
        let cost = |sets: &Range<u32>| self.restrict_sets(sets.clone()).cost();
        self.balanced_groups(count).into_iter().max_by_key(cost).unwrap_or(0..self.sets * FIXED_ONE)
    }

    /// Returns the cost by the model, in ps, of the matrix entries and buckets of the sets of windows before `set`.
    fn cost_before(&self, set: u32) -> u64 {
        let costs = CostConstants::for_affine_bytes(self.problem.affine_bytes);
        let points = self.problem.points as u64;
        let left = points >> self.levels;
        let window = costs.affine * (points - left) + costs.xyzz * left + ENTRY * points;
        window * u64::from(set) + costs.bucket_cost() * u64::from(self.global_first_bucket(set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msm::plan::tests::grouped_plans;

    /// Checks that the groups together cover each point exactly once in each set of windows.
    #[test]
    fn groups_cover_all_windows_once() {
        for (count, plan) in grouped_plans() {
            let groups = plan.balanced_groups(count);
            assert!(groups.contains(&plan.costliest_group_sets(count)) && groups.len() == count as usize);
            let parts: Vec<_> = groups.into_iter().map(|sets| plan.restrict_sets(sets)).collect();
            assert_eq!((parts[0].first_set, parts[parts.len() - 1].end_set), (0, plan.sets), "{plan:?}");
            for (set, chunk) in (0..plan.sets).flat_map(|set| plan.chunks().map(move |chunk| (set, chunk))) {
                let doing = parts.iter().filter(|part| (part.first_set..part.end_set).contains(&set));
                let done: Vec<_> = doing.map(|part| part.set_point_range(set, &chunk)).collect();
                let (starts, ends) = (done.iter().map(|range| range.start), done.iter().map(|range| range.end));
                let starts = starts.chain([chunk.len() as u32]);
                assert!(starts.eq([0].into_iter().chain(ends)), "set {set}, {chunk:?}: {done:?} of {plan:?}");
            }
        }
    }

    /// Checks that groups cost the same by the model, within 1/8: sets that two groups share have buckets in both.
    #[test]
    fn groups_cost_about_the_same() {
        for (count, plan) in grouped_plans().filter(|(_, plan)| plan.problem.points >= 1 << 20) {
            let plan = MsmPlan { levels: 0, ..plan };
            let costs: Vec<_> =
                plan.balanced_groups(count).into_iter().map(|sets| plan.restrict_sets(sets).cost()).collect();
            let (least, most) = (*costs.iter().min().expect("one"), *costs.iter().max().expect("one"));
            assert!(most - least <= most / 8, "{costs:?} of {plan:?}");
        }
    }

    /// Checks that the plan of a group has the buckets and bands of the group's sets, and weights within their bits.
    #[test]
    fn a_group_is_a_part_of_the_whole() {
        for (count, plan) in grouped_plans() {
            for part in plan.balanced_groups(count).into_iter().map(|sets| plan.restrict_sets(sets)) {
                let sets = part.first_set..part.end_set;
                assert_eq!(
                    (part.local_first_bucket(sets.start), part.local_first_bucket(sets.end)),
                    (0, part.own_bucket_count())
                );
                assert_eq!(
                    part.own_bucket_count(),
                    sets.clone().map(|set| part.bucket_count(set)).sum::<u32>(),
                    "{part:?}"
                );
                assert!(part.bands(part.chunk).flat_map(|band| band.from..band.to).eq(sets), "{part:?}");
                let room = part.buffer_sizes();
                assert!(
                    part.bands(part.chunk).all(|band| u64::from(part.matrix_sizes(part.chunk, band).rows) <= room.rows),
                    "{part:?}"
                );
                let weights: Vec<_> = (0..part.reduced_point_count()).map(|sum| part.weight_exponent(sum)).collect();
                let bits = part.first_bit(part.first_set)..part.first_bit(part.end_set);
                assert!(weights.iter().all(|weight| bits.contains(weight)), "{weights:?} of {part:?}");
            }
        }
    }
}
