//! Locates windows of two widths among bits and buckets.

use std::ops::Range;

use super::msm_plan::MsmPlan;

impl MsmPlan {
    /// Returns the number of sets before `set` whose windows have `c` bits, not `c` − 1 (`wide_before` of
    /// `cl/msm_digits.cl`).
    fn count_wide_sets_before(&self, set: u32) -> u32 {
        (set * self.wide_windows).div_ceil(self.sets)
    }

    /// Returns the number of bits of each window of `set`, a set of windows that share buckets.
    pub fn window_bits(&self, set: u32) -> u32 {
        self.c - 1 + self.count_wide_sets_before(set + 1) - self.count_wide_sets_before(set)
    }

    /// Returns the index of the lowest scalar bit in `window`. For `windows`, one past the last window, it is the
    /// number of bits of all windows.
    pub fn first_bit(&self, window: u32) -> u32 {
        let all = |sets: u32| sets * (self.c - 1) + self.count_wide_sets_before(sets);
        window / self.sets * all(self.sets) + all(window % self.sets)
    }

    /// Returns the number of buckets of `set`: one per absolute value 1 … 2^(bits−1) of a digit.
    pub fn bucket_count(&self, set: u32) -> u32 {
        1 << (self.window_bits(set) - 1)
    }

    /// Returns the index of the first bucket of `set` among the buckets of all sets.
    pub fn global_first_bucket(&self, set: u32) -> u32 {
        (set + self.count_wide_sets_before(set)) << (self.c - 2)
    }

    /// Returns the number of sets of windows (those that share buckets) that the device computes.
    pub fn own_set_count(&self) -> u32 {
        self.end_set - self.first_set
    }

    /// Returns the number of buckets of the device's windows, for one vector.
    pub fn own_bucket_count(&self) -> u32 {
        self.local_first_bucket(self.end_set)
    }

    /// Returns the number of buckets of the device's windows, for all vectors of a matrix.
    pub fn joined_bucket_count(&self) -> u32 {
        self.vectors_per_matrix() * self.own_bucket_count()
    }

    /// Returns the index of the first bucket of `set` among the buckets of the device's sets.
    pub fn local_first_bucket(&self, set: u32) -> u32 {
        self.global_first_bucket(set) - self.global_first_bucket(self.first_set)
    }
    /// Returns the points of `chunk` that the device handles in `set`, counted from the chunk's start. In the first of
    /// the device's sets, points before `skip` are left to the device of the previous windows. In its last set, points
    /// from `until` on are left to the device of the next windows.
    pub fn set_point_range(&self, set: u32, chunk: &Range<usize>) -> Range<u32> {
        let within = |point: usize| (point.clamp(chunk.start, chunk.end) - chunk.start) as u32;
        let start = if set == self.first_set { self.skip } else { 0 };
        let end = if set + 1 == self.end_set { self.until } else { self.problem.points };
        within(start)..within(end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::grouped_plans;

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
}
