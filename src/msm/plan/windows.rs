//! Windows of two widths, their places among bits and buckets, and groups of them.

use std::ops::Range;

use super::super::costs::{Costs, ENTRY};
use super::Plan;

impl Plan {
    /// Wide sets before this one (`wide_before` of `cl/msm_digits.cl`).
    fn wide_before(&self, set: u32) -> u32 {
        (set * self.wide).div_ceil(self.sets)
    }

    /// Bits of a set's windows.
    pub fn bits(&self, set: u32) -> u32 {
        self.c - 1 + self.wide_before(set + 1) - self.wide_before(set)
    }

    /// The lowest bit of a window; the number of bits of all, where that is past the last one.
    pub fn first_bit(&self, window: u32) -> u32 {
        let all = |sets: u32| sets * (self.c - 1) + self.wide_before(sets);
        window / self.sets * all(self.sets) + all(window % self.sets)
    }

    /// Buckets of a set's windows: |digit| is 1 … 2^(bits−1).
    pub fn buckets(&self, set: u32) -> u32 {
        1 << (self.bits(set) - 1)
    }

    /// The bucket that a set's start with, all sets' being numbered one after the other.
    pub fn first_row(&self, set: u32) -> u32 {
        (set + self.wide_before(set)) << (self.c - 2)
    }

    /// Sets that the device does.
    pub fn own_sets(&self) -> u32 {
        self.end_set - self.first_set
    }

    /// Buckets of the device's windows.
    pub fn rows(&self) -> u32 {
        self.first_bucket(self.end_set)
    }

    /// The bucket that a set's start with among the device's.
    pub fn first_bucket(&self, set: u32) -> u32 {
        self.first_row(set) - self.first_row(self.first_set)
    }

    /// All of the sets, whichever the device does.
    pub fn of_all(self) -> Self {
        self.of_sets(0..self.sets)
    }

    /// The sets in so many groups, one after the other, of as equal a cost as can be.
    pub fn groups(&self, count: u32) -> Vec<Range<u32>> {
        let all = u128::from(self.cost_before(self.sets));
        let distance =
            |set, group: u32| (u128::from(self.cost_before(set)) * u128::from(count)).abs_diff(all * u128::from(group));
        let bound = |group| (0..=self.sets).min_by_key(|set| distance(*set, group)).unwrap_or(0);
        (0..count).map(|group| bound(group)..bound(group + 1)).collect()
    }

    pub(super) fn dearest_group(&self, count: u32) -> Range<u32> {
        if count == 1 {
            return 0..self.sets;
        }
        let cost = |sets: &Range<u32>| self.cost_before(sets.end) - self.cost_before(sets.start);
        self.groups(count).into_iter().max_by_key(cost).unwrap_or(0..self.sets)
    }

    /// What the entries and buckets of the sets before this one cost by the model.
    fn cost_before(&self, set: u32) -> u64 {
        let costs = Costs::of(self.problem.affine_bytes);
        let points = self.problem.points as u64;
        let left = points >> self.levels;
        let window = costs.affine * (points - left) + costs.xyzz * left + ENTRY * points;
        window * u64::from(set) + costs.bucket * u64::from(self.first_row(set))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::grid::Windows;
    use super::super::Problem;
    use super::super::tests::problem;
    use super::*;

    /// Plans of every size and curve, with the number of groups that their windows are in.
    fn in_groups() -> impl Iterator<Item = (u32, Plan)> {
        let sizes = (1..=27).step_by(2).flat_map(|log_n| [64, 96, 192].map(|affine_bytes| (log_n, affine_bytes)));
        let problems = sizes.flat_map(|size| (1..=5).map(move |groups| (size, groups)));
        problems.map(|((log_n, affine_bytes), groups)| {
            let own = Windows::Group(groups);
            (groups, Plan::new(Problem { own, affine_bytes, ..problem(1 << log_n, true) }))
        })
    }

    #[test]
    fn groups_cover_all_windows_once() {
        for (count, plan) in in_groups() {
            let groups = plan.groups(count);
            assert_eq!(groups.len(), count as usize);
            assert_eq!(groups.iter().cloned().flatten().collect::<Vec<_>>(), (0..plan.sets).collect::<Vec<_>>());
            let rows: Vec<_> = groups.iter().map(|sets| plan.of_sets(sets.clone()).rows()).collect();
            assert_eq!(rows.iter().sum::<u32>(), plan.of_all().rows(), "{plan:?}");
            assert!(groups.contains(&(plan.first_set..plan.end_set)), "the plan is of one of them: {plan:?}");
        }
    }

    /// They differ by no more than a window, and the plan is the dearest one's.
    #[test]
    fn groups_cost_about_the_same() {
        for (count, plan) in in_groups() {
            let cost = |sets: &Range<u32>| plan.cost_before(sets.end) - plan.cost_before(sets.start);
            let costs: Vec<_> = plan.groups(count).iter().map(cost).collect();
            let (least, most) = (*costs.iter().min().expect("one"), *costs.iter().max().expect("one"));
            assert!(most - least <= plan.cost_before(1), "{costs:?} of {plan:?}");
            assert_eq!(cost(&(plan.first_set..plan.end_set)), most, "{plan:?}");
        }
    }

    /// A device's own buckets and bands are those of its sets; weights of all groups together are those of all sets.
    #[test]
    fn a_group_is_a_part_of_the_whole() {
        for (count, plan) in in_groups() {
            let mut before = 0;
            for sets in plan.groups(count) {
                let part = plan.of_sets(sets.clone());
                assert_eq!((part.first_bucket(sets.start), part.first_bucket(sets.end)), (0, part.rows()));
                assert_eq!(part.first_row(sets.start), before, "{part:?}");
                assert_eq!(
                    part.bands().flat_map(|band| band.from..band.to).collect::<Vec<_>>(),
                    sets.collect::<Vec<_>>()
                );
                let room = part.room();
                assert!(part.bands().all(|band| part.cut(part.chunk, band).rows <= room.rows), "{part:?}");
                let weights: Vec<_> = (0..part.sums()).map(|sum| part.weight(sum)).collect();
                let bits = part.first_bit(part.first_set)..part.first_bit(part.end_set);
                assert!(weights.iter().all(|weight| bits.contains(weight)), "{weights:?} of {part:?}");
                before += part.rows();
            }
        }
    }

    #[test]
    fn wide_sets_are_spread_evenly() {
        for (_, plan) in in_groups() {
            assert_eq!(plan.bits(0), plan.c);
            for (from, to) in (0..=plan.sets).flat_map(|from| (from..=plan.sets).map(move |to| (from, to))) {
                let wide = (from..to).filter(|set| plan.bits(*set) == plan.c).count() as u32;
                assert!((wide * plan.sets).abs_diff((to - from) * plan.wide) < plan.sets, "{from}..{to} of {plan:?}");
            }
        }
    }
}
