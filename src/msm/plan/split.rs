//! What each device does of one vector.

use std::ops::Range;

use super::grid::{Grid, Group, Windows};
use super::layout::Plan;

/// More groups of windows have to gain one part in so many of the time, by the model: they hold the bases more than once.
const MIN_GAIN: u64 = 128;

/// What each device does of one vector: its windows, and its points by a grid that may have smaller pieces than the bases'.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    pub grid: Grid,
    /// The groups of windows; none where every device does all.
    groups: Vec<Group>,
}

impl Split {
    /// The windows of a device.
    pub fn own(&self, device: usize) -> Windows {
        self.groups.get(device % self.grid.groups).map_or(Windows::Group(1), |group| Windows::Agreed(*group))
    }

    /// A device's points, of so many; none if it has no window.
    pub fn points(&self, device: usize, points: usize) -> Range<usize> {
        match self.own(device) {
            Windows::Agreed(group) if group.sets().is_empty() => 0..0,
            _ => self.grid.held(device, points),
        }
    }

    /// By points alone.
    pub fn of_points(grid: Grid) -> Self {
        Self { grid: grid.in_groups_of(1), groups: Vec::new() }
    }

    /// By so many groups of the windows of a plan.
    pub fn agreed(grid: Grid, groups: usize, plan: &Plan) -> Self {
        let (widths, of) = ((plan.c, plan.wide < plan.sets), groups as u32);
        let groups_of_windows = if groups == 1 { Vec::new() } else { plan.groups(of) };
        let group = |sets: Range<u32>| Group { widths, from: sets.start, to: sets.end, of };
        Self { grid: grid.in_groups_of(groups), groups: groups_of_windows.into_iter().map(group).collect() }
    }
}

/// Of some numbers of groups, in ascending order, the one whose plan costs least, or a smaller one where more gain little.
pub(crate) fn cheapest(
    candidates: impl Iterator<Item = usize>,
    plan: impl Fn(usize) -> Option<Plan>,
) -> Option<(usize, Plan)> {
    let plans = candidates.filter_map(|groups| Some((groups, plan(groups)?)));
    plans.reduce(|best, other| {
        let gains = other.1.cost() + best.1.cost() / MIN_GAIN < best.1.cost();
        if gains { other } else { best }
    })
}

/// Numbers of groups that so many devices can be in.
pub(crate) fn divisors(number: usize) -> impl Iterator<Item = usize> {
    (1..=number).filter(move |divisor| number.is_multiple_of(*divisor))
}
