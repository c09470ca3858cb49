//! Spreads a multiplication over devices: by pieces of points, and within a piece by groups of windows.
//!
//! A device sums few points less efficiently: rows are shorter, and there are as many buckets to reduce. With half of
//! the windows of twice the points, a device has longer rows and half as many buckets.

use std::ops::Range;

/// Minimum points per device, 2^15: with fewer, a further device costs more than it gains.
const MIN_SHARE: usize = 1 << 15;

/// Describes the widths of all windows: the widest have `c` bits. If `narrow`, as many as possible have one bit less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowWidths {
    pub c: u32,
    pub narrow: bool,
}

/// Holds the windows that several devices agreed on, and the range of them that one device computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowGroup {
    pub(super) widths: WindowWidths,
    /// Start of the range, in 1/2^16 (`FIXED_ONE`) of a set of windows.
    pub(super) from: u32,
    /// End of the range, exclusive, in the same unit.
    pub(super) to: u32,
    /// Number of groups that the windows are divided into.
    pub(super) of: u32,
}

impl WindowGroup {
    pub(crate) fn sets(&self) -> Range<u32> {
        self.from..self.to
    }
}

/// Selects the windows that a device computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowAssignment {
    /// The most expensive group, if windows are divided into this many groups of equal cost. One group has all windows.
    WindowGroup(u32),
    /// A group of windows that devices agreed on, since all must cut scalars alike.
    Agreed(WindowGroup),
}

impl WindowAssignment {
    /// Returns the number of groups that the windows are divided into.
    pub(crate) fn group_count(&self) -> u32 {
        match self {
            Self::WindowGroup(groups) => *groups,
            Self::Agreed(group) => group.of,
        }
    }

    /// Returns the widths of all windows, `None` if devices have not agreed on them.
    pub(crate) fn widths(&self) -> Option<WindowWidths> {
        match self {
            Self::WindowGroup(_) => None,
            Self::Agreed(group) => Some(group.widths),
        }
    }
}

/// Describes how devices share points: in consecutive pieces, each held by `groups` devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeviceMesh {
    /// Number of devices in use.
    pub devices: usize,
    /// Number of devices that hold a piece and share its windows.
    pub groups: usize,
    /// Points per device: a piece has `groups` times as many.
    unit: usize,
}

impl DeviceMesh {
    /// Returns the mesh that divides `points` points among up to `devices` devices, each with a piece of its own.
    pub(crate) fn by_points(points: usize, devices: usize) -> Self {
        Self::new(points, devices, 1)
    }

    /// Returns the mesh that divides `points` points into pieces, each for `groups` devices. It uses up to `devices`
    /// devices, and fewer for few points.
    pub(crate) fn new(points: usize, devices: usize, groups: usize) -> Self {
        let groups = groups.clamp(1, devices.max(1));
        let used = points.div_ceil(MIN_SHARE).clamp(1, devices.max(1));
        let devices = used.div_ceil(groups).min(devices.max(1) / groups) * groups;
        Self { devices, groups, unit: points.div_ceil(devices).max(1) }
    }

    /// Returns the mesh of `points` points on one device.
    pub(crate) fn single_device(points: usize) -> Self {
        Self { devices: 1, groups: 1, unit: points.max(1) }
    }

    /// Returns the mesh of the same devices with smaller pieces, each for `groups` devices.
    pub(crate) fn with_groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    /// Returns the number of points of a piece; the last one may have fewer.
    pub(crate) fn points_per_piece(&self) -> usize {
        self.groups * self.unit
    }

    /// Returns the range of points, out of `points` in total, that device number `device` holds.
    pub(crate) fn device_range(&self, device: usize, points: usize) -> Range<usize> {
        let start = device / self.groups * self.points_per_piece();
        start.min(points)..points.min(start + self.points_per_piece())
    }

    /// Returns whether both meshes have as many devices and points per device. If so, scalars spread by one mesh are on
    /// devices that hold their bases by the other.
    pub(crate) fn matches(&self, other: &Self) -> bool {
        (self.devices, self.unit) == (other.devices, other.unit)
    }
}
