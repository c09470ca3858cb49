//! Windows of two widths, and their places among bits and buckets.

use std::ops::Range;

use super::layout::Plan;

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

    /// The same of all vectors that are joined.
    pub fn all_rows(&self) -> u32 {
        self.joined() * self.rows()
    }

    /// The bucket that a set's start with among the device's.
    pub fn first_bucket(&self, set: u32) -> u32 {
        self.first_row(set) - self.first_row(self.first_set)
    }
    /// The points of a chunk that a set of the device's is done of: of the first set those that the group before leaves, of
    /// the last those that this group is to do.
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
                assert!((wide * plan.sets).abs_diff((to - from) * plan.wide) < plan.sets, "{from}..{to} of {plan:?}");
            }
        }
    }
}
