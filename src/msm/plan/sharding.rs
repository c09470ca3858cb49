//! Each device's share of one vector.

use std::ops::Range;

use super::mesh::{DeviceMesh, WindowAssignment, WindowGroup, WindowWidths};
use super::msm_plan::MsmPlan;

/// Minimum gain of more groups of windows, `1/MIN_GAIN` of the time by the model: more devices then hold the same
/// bases.
const MIN_GAIN: u64 = 128;

/// Describes each device's share of one vector: its windows, and its range of points by a mesh. Pieces of points may be
/// smaller than in the mesh of the bases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sharding {
    pub grid: DeviceMesh,
    /// The groups of windows, one per device of a piece; empty if every device computes all windows.
    groups: Vec<WindowGroup>,
}

impl Sharding {
    /// Returns the windows that device number `device` computes.
    pub(crate) fn assignment(&self, device: usize) -> WindowAssignment {
        self.groups
            .get(device % self.grid.groups)
            .map_or(WindowAssignment::WindowGroup(1), |group| WindowAssignment::Agreed(*group))
    }

    /// Returns the range of points, out of `points` in total, that device number `device` computes. It is empty if the
    /// device has no window.
    pub(crate) fn device_range(&self, device: usize, points: usize) -> Range<usize> {
        match self.assignment(device) {
            WindowAssignment::Agreed(group) if group.sets().is_empty() => 0..0,
            _ => self.grid.device_range(device, points),
        }
    }

    /// Returns the sharding by points alone: every device of `grid` computes all windows of a piece of its own.
    pub(crate) fn of_points(grid: DeviceMesh) -> Self {
        Self { grid: grid.with_groups(1), groups: Vec::new() }
    }

    /// Returns the sharding in which each piece of points has `groups` devices of `grid`, and each of them a group of
    /// the windows of `plan`.
    pub(crate) fn by_windows(grid: DeviceMesh, groups: usize, plan: &MsmPlan) -> Self {
        let widths = WindowWidths { c: plan.c, narrow: plan.wide_windows < plan.sets };
        let of = groups as u32;
        let groups_of_windows = if groups == 1 { Vec::new() } else { plan.balanced_groups(of) };
        let group = |sets: Range<u32>| WindowGroup { widths, from: sets.start, to: sets.end, of };
        Self { grid: grid.with_groups(groups), groups: groups_of_windows.into_iter().map(group).collect() }
    }
}

/// Returns the number of window groups whose plan costs least, with that plan. `candidates` are in ascending order; a
/// larger number must gain at least `1/MIN_GAIN`. Returns `None` if `plan` returns `None` for all of them.
pub(crate) fn argmin_cost(
    candidates: impl Iterator<Item = usize>,
    plan: impl Fn(usize) -> Option<MsmPlan>,
) -> Option<(usize, MsmPlan)> {
    let plans = candidates.filter_map(|groups| Some((groups, plan(groups)?)));
    plans.reduce(|best, other| {
        let gains = other.1.cost() + best.1.cost() / MIN_GAIN < best.1.cost();
        if gains { other } else { best }
    })
}

/// Returns the divisors of `number` in ascending order: each is a possible number of groups of `number` devices.
pub(crate) fn divisors(number: usize) -> impl Iterator<Item = usize> {
    (1..=number).filter(move |divisor| number.is_multiple_of(*divisor))
}
