//! Locates windows of two widths among bits and buckets.

use std::ops::Range;

use super::msm_plan::MsmPlan;

impl MsmPlan {
    /// Returns the number of wide sets before `set` (`wide_before` of `cl/msm_digits.cl`).
    fn wide_before(&self, set: u32) -> u32 {
        (set * self.wide_windows).div_ceil(self.sets)
    }

    /// Returns the bits of the windows of `set`.
    pub fn bits(&self, set: u32) -> u32 {
        self.c - 1 + self.wide_before(set + 1) - self.wide_before(set)
    }

    /// Returns the lowest bit of `window`; one past the last window, the number of all bits.
    pub fn first_bit(&self, window: u32) -> u32 {
        let all = |sets: u32| sets * (self.c - 1) + self.wide_before(sets);
        window / self.sets * all(self.sets) + all(window % self.sets)
    }

    /// Returns the number of buckets of each window of `set`: |digit| is 1 … 2^(bits−1).
    pub fn buckets(&self, set: u32) -> u32 {
        1 << (self.bits(set) - 1)
    }

    /// Returns the first bucket of `set`; the buckets of all sets are numbered one after the other.
    pub fn first_row(&self, set: u32) -> u32 {
        (set + self.wide_before(set)) << (self.c - 2)
    }

    /// Returns the number of sets that the device computes.
    pub fn own_sets(&self) -> u32 {
        self.end_set - self.first_set
    }

    /// Returns the number of buckets of the device's windows.
    pub fn rows(&self) -> u32 {
        self.first_bucket(self.end_set)
    }

    /// Returns the number of buckets of the device's windows, for all vectors that are joined.
    pub fn all_rows(&self) -> u32 {
        self.joined() * self.rows()
    }

    /// Returns the first bucket of `set` among the device's.
    pub fn first_bucket(&self, set: u32) -> u32 {
        self.first_row(set) - self.first_row(self.first_set)
    }
    /// Returns the points of `chunk` that the device computes `set` for. In its first set these are the points that the
    /// previous group leaves, in its last set the points of this group.
    pub fn points_of(&self, set: u32, chunk: &Range<usize>) -> Range<u32> {
        let within = |point: usize| (point.clamp(chunk.start, chunk.end) - chunk.start) as u32;
        let start = if set == self.first_set { self.skip } else { 0 };
        let end = if set + 1 == self.end_set { self.until } else { self.problem.points };
        within(start)..within(end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::in_groups;

    #[test]
    fn wide_sets_are_spread_evenly() {
        for (_, plan) in in_groups() {
            assert_eq!(plan.bits(0), plan.c);
            for (from, to) in (0..=plan.sets).flat_map(|from| (from..=plan.sets).map(move |to| (from, to))) {
                let wide = (from..to).filter(|set| plan.bits(*set) == plan.c).count() as u32;
                assert!(
                    (wide * plan.sets).abs_diff((to - from) * plan.wide_windows) < plan.sets,
                    "{from}..{to} of {plan:?}"
                );
            }
        }
    }
}
