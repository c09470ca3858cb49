//! How a multiplication is spread over devices: by pieces of points, and within a piece by groups of windows.
//!
//! Fewer points to a device are summed less efficiently: rows are shorter, and there are as many buckets to reduce. With
//! half of the windows of twice the points, rows are longer and there are half as many buckets to a device.

use std::ops::Range;
use std::sync::Arc;

use super::gpu::{Bases, Work};
use super::kept::{Kept, available, rounded};
use super::options::Options;
use super::plan::{Plan, Problem};
use super::table::{Need, Table, problem, resident};
use crate::Result;
use crate::backend::Device;
use crate::curve::MsmCurve;

/// Below this many points per device a further device costs more than it gains.
const MIN_SHARE: usize = 1 << 15;
/// What more groups of windows have to gain by the model, as a part of the time: they hold the bases more than once.
const MIN_GAIN: u64 = 128;

/// Windows that have been agreed on, and the sets of them that a device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    /// Bits of the widest windows, and whether as many as can be have one less.
    widths: (u32, bool),
    from: u32,
    to: u32,
    /// The number of groups.
    of: u32,
}

impl Group {
    pub fn sets(&self) -> Range<u32> {
        self.from..self.to
    }
}

/// The windows that a device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Windows {
    /// Those of the most expensive of so many groups of equal cost; of one group they are all.
    Group(u32),
    /// A group that devices have agreed on: all have to cut scalars alike.
    Agreed(Group),
}

impl Windows {
    /// The number of groups.
    pub fn groups(&self) -> u32 {
        match self {
            Self::Group(groups) => *groups,
            Self::Agreed(group) => group.of,
        }
    }

    /// The windows' widths, once they are agreed on.
    pub fn widths(&self) -> Option<(u32, bool)> {
        match self {
            Self::Group(_) => None,
            Self::Agreed(group) => Some(group.widths),
        }
    }
}

/// Points over devices: pieces one after the other, each held by `groups` devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    /// Devices that are used.
    pub devices: usize,
    pub groups: usize,
    /// Points for each device: a piece has `groups` times as many.
    unit: usize,
}

impl Grid {
    /// A piece of points to each device.
    pub fn of_points(points: usize, devices: usize) -> Self {
        Self::new(points, devices, 1)
    }

    /// Pieces for so many devices each, as far as there are.
    pub fn new(points: usize, devices: usize, groups: usize) -> Self {
        let groups = groups.clamp(1, devices.max(1));
        let used = points.div_ceil(MIN_SHARE).clamp(1, devices.max(1));
        let devices = used.div_ceil(groups).min(devices.max(1) / groups) * groups;
        Self { devices, groups, unit: points.div_ceil(devices).max(1) }
    }

    /// So many points on one device.
    pub fn of_one(points: usize) -> Self {
        Self { devices: 1, groups: 1, unit: points.max(1) }
    }

    /// The same with smaller pieces, for so many devices each.
    fn in_groups_of(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    /// Points of a piece.
    pub fn piece(&self) -> usize {
        self.groups * self.unit
    }

    /// The points, of so many, that a device holds.
    pub fn held(&self, device: usize, points: usize) -> Range<usize> {
        let start = device / self.groups * self.piece();
        start.min(points)..points.min(start + self.piece())
    }

    /// Whether devices that hold pieces of both find what belongs together.
    pub fn matches(&self, other: &Self) -> bool {
        (self.devices, self.unit) == (other.devices, other.unit)
    }

    /// How bases that are to stay on devices are spread over them: as the caller says, or as is fastest by the model for
    /// scalars of full length on the devices.
    ///
    /// # Errors
    /// A device does not say how much memory it has free.
    pub fn choose<C: MsmCurve>(devices: &[Arc<Device>], points: usize, options: &Options) -> Result<Self> {
        let alone = Self::of_points(points, devices.len());
        // Copies of the bases are there for windows to share buckets.
        if options.precompute > 1 || points == 0 || devices.is_empty() {
            return Ok(alone);
        }
        if options.window_groups > 0 {
            return Ok(Self::new(points, devices.len(), options.window_groups));
        }
        let free = least_available(&devices[..alone.devices], 1, options)?;
        let plan = |groups| {
            let grid = alone.in_groups_of(groups);
            let table = (grid.piece() * C::AFFINE_BYTES) as u64;
            let problem = resident::<C>(&devices[0], grid.piece().min(points), options);
            Plan::fit(Problem { own: Windows::Group(groups as u32), ..problem }, free.saturating_sub(table)).ok()
        };
        Ok(cheapest(divisors(alone.devices), plan).map_or(alone, |(groups, _)| alone.in_groups_of(groups)))
    }
}

/// What each device does of one vector: its points, of a grid that may have smaller pieces than the bases', and its windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    pub grid: Grid,
    /// The groups of windows; none where every device does all.
    groups: Vec<Group>,
}

impl Split {
    /// The windows of a device.
    pub fn own(&self, device: usize) -> Windows {
        self.groups.get(device % self.grid.groups).map_or(Windows::Group(1), |group| Windows::Agreed(*group))
    }

    /// The points of a device, of so many; none if there is no window for it.
    pub fn points(&self, device: usize, points: usize) -> Range<usize> {
        match self.own(device) {
            Windows::Agreed(group) if group.sets().is_empty() => 0..0,
            _ => self.grid.held(device, points),
        }
    }

    /// How devices that hold the same piece share a vector, by points or by windows, whichever is cheaper by the model: few
    /// windows are hard to divide. All have to cut scalars alike, which is as the one with the least memory can.
    ///
    /// The need is that of all devices together; scalars on the devices have a grid.
    ///
    /// # Errors
    /// A device does not say how much memory it has free.
    pub fn of<C: MsmCurve>(
        devices: &[Arc<Device>],
        work: &Work<'_, C>,
        need: Need,
        scalars: Option<Grid>,
    ) -> Result<Self> {
        let automatic = work.options.window_groups == 0;
        // Scalars from the host are uploaded once for each group, and copying them there bounds that.
        let held = if automatic && !need.on_device { 1 } else { work.grid.groups };
        let most = scalars.map_or(held, |scalars| common_divisor(held, scalars.groups));
        let devices = &devices[..work.bases.len().min(devices.len())];
        let (true, Some(Bases::Device(table))) = (most > 1, work.bases.first()) else {
            return Ok(Self::of_points(work.grid));
        };
        let free = least_available(devices, need.at_once, &work.options)?;
        let find = |free| {
            let key = (need, most, free);
            work.choices.splits.find(key, || Self::cheapest(devices, work, table, key))
        };
        // What little rounding takes may be what is needed.
        Ok(find(rounded(free)).or_else(|| find(free)).unwrap_or_else(|| Self::of_points(work.grid)))
    }

    /// The cheapest of those that fit.
    fn cheapest<C: MsmCurve>(
        devices: &[Arc<Device>],
        work: &Work<'_, C>,
        table: &Table,
        (need, most, free): Key,
    ) -> Option<Self> {
        let automatic = work.options.window_groups == 0;
        let plan = |groups| {
            let points = work.grid.in_groups_of(groups).piece().min(need.points);
            let need = Need { points, own: Windows::Group(groups as u32), ..need };
            Plan::fit(problem::<C>(&devices[0], Some(table), need, &work.options), free).ok()
        };
        let candidates = divisors(most).filter(|groups| automatic || *groups == most);
        cheapest(candidates, plan).map(|(groups, plan)| Self::agreed(work.grid, groups, &plan))
    }

    fn of_points(grid: Grid) -> Self {
        Self { grid: grid.in_groups_of(1), groups: Vec::new() }
    }

    fn agreed(grid: Grid, groups: usize, plan: &Plan) -> Self {
        let (widths, of) = ((plan.c, plan.wide < plan.sets), groups as u32);
        let groups_of_windows = if groups == 1 { Vec::new() } else { plan.groups(of) };
        let group = |sets: Range<u32>| Group { widths, from: sets.start, to: sets.end, of };
        Self { grid: grid.in_groups_of(groups), groups: groups_of_windows.into_iter().map(group).collect() }
    }
}

/// What the split of a vector over the same bases depends on: the need, most groups, and free memory.
type Key = (Need, usize, u64);

/// What was chosen by the model before, over the same bases; no split where none fits.
#[derive(Debug, Default)]
pub(super) struct Choices {
    splits: Kept<Key, Option<Split>>,
    /// How many vectors are joined: of a problem of all that are alike, in a batch of so many, with so much free memory.
    pub joins: Kept<(Problem, usize, u64), usize>,
}

/// The number of groups, of some in ascending order, whose plan costs least; fewer where more gain little.
fn cheapest(candidates: impl Iterator<Item = usize>, plan: impl Fn(usize) -> Option<Plan>) -> Option<(usize, Plan)> {
    let plans = candidates.filter_map(|groups| Some((groups, plan(groups)?)));
    plans.reduce(|best, other| {
        let gains = other.1.cost() + best.1.cost() / MIN_GAIN < best.1.cost();
        if gains { other } else { best }
    })
}

/// The least that is available on one of the devices.
fn least_available(devices: &[Arc<Device>], at_once: u32, options: &Options) -> Result<u64> {
    devices.iter().try_fold(u64::MAX, |least, device| Ok(least.min(available(device, at_once, options)?)))
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn divisors(number: usize) -> impl Iterator<Item = usize> {
    (1..=number).filter(move |divisor| number.is_multiple_of(*divisor))
}
