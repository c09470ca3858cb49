//! How a multiplication is spread over devices: by pieces of points, and within a piece by groups of windows.
//!
//! A device sums few points less efficiently: rows are shorter, and there are as many buckets to reduce. With half of the
//! windows of twice the points, a device has longer rows and half as many buckets.

use std::ops::Range;

/// With fewer points per device a further device costs more than it gains.
const MIN_SHARE: usize = 1 << 15;

/// Windows that have been agreed on, and the sets of them that a device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Bits of the widest windows, and whether as many as can be have one less.
    pub(super) widths: (u32, bool),
    pub(super) from: u32,
    pub(super) to: u32,
    /// The number of groups.
    pub(super) of: u32,
}

impl Group {
    pub fn sets(&self) -> Range<u32> {
        self.from..self.to
    }
}

/// The windows that a device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Windows {
    /// The most expensive of so many groups of equal cost. One group has all windows.
    Group(u32),
    /// A group that devices have agreed on, since all have to cut scalars alike.
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
pub(crate) struct Grid {
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
    pub fn in_groups_of(self, groups: usize) -> Self {
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
}
