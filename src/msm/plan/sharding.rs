//! Each device's share of one vector.

use std::ops::Range;

use super::mesh::{DeviceMesh, WindowAssignment, WindowGroup};
use super::msm_plan::MsmPlan;

/// Minimum gain of more groups of windows, `1/MIN_GAIN` of the time by the model: they hold the bases more than once.
const MIN_GAIN: u64 = 128;

/// Describes each device's share of one vector: its windows, and its points by a mesh that may have smaller pieces than
/// the bases' mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sharding {
    pub grid: DeviceMesh,
    /// The groups of windows; empty if every device computes all.
    groups: Vec<WindowGroup>,
}

impl Sharding {
    /// Returns the windows of `device`.
    pub fn assignment(&self, device: usize) -> WindowAssignment {
        self.groups
            .get(device % self.grid.groups)
            .map_or(WindowAssignment::WindowGroup(1), |group| WindowAssignment::Agreed(*group))
    }

    /// Returns the range of the `points` points that `device` computes; empty if it has no window.
    pub fn points(&self, device: usize, points: usize) -> Range<usize> {
        match self.assignment(device) {
            WindowAssignment::Agreed(group) if group.sets().is_empty() => 0..0,
            _ => self.grid.held(device, points),
        }
    }

    /// Returns the split by points alone.
    pub fn of_points(grid: DeviceMesh) -> Self {
        Self { grid: grid.with_groups(1), groups: Vec::new() }
    }

    /// Returns the split by `groups` groups of the windows of `plan`.
    pub fn agreed(grid: DeviceMesh, groups: usize, plan: &MsmPlan) -> Self {
        let (widths, of) = ((plan.c, plan.wide_windows < plan.sets), groups as u32);
        let groups_of_windows = if groups == 1 { Vec::new() } else { plan.groups(of) };
        let group = |sets: Range<u32>| WindowGroup { widths, from: sets.start, to: sets.end, of };
        Self { grid: grid.with_groups(groups), groups: groups_of_windows.into_iter().map(group).collect() }
    }
}

/// Returns, of ascending numbers of groups, the one whose plan costs least, or a smaller one if more groups gain
/// little.
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

/// Returns the numbers of groups that `number` devices can form.
pub(crate) fn divisors(number: usize) -> impl Iterator<Item = usize> {
    (1..=number).filter(move |divisor| number.is_multiple_of(*divisor))
}
