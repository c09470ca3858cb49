//! The input of a plan: a multiplication and its device.

use super::mesh::WindowAssignment;

/// Limits windows to 19 bits if GLV is used: a bucket then has two rows.
const MAX_HALVED_WINDOW: u32 = 19;

/// Holds all properties of a multiplication and of its device that sizes depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanInput {
    pub points: usize,
    /// Bits of the scalars at hand, and of those that precomputed multiples are made for.
    pub scalar_bits: u32,
    pub full_bits: u32,
    /// Bits of half-length scalars (GLV).
    pub half_bits: u32,
    /// Whether GLV splits scalars of full length; `None`: the model decides.
    pub halved: Option<bool>,
    pub affine_bytes: u64,
    /// Whether the bases are already on the device, and whether the scalars are.
    pub resident: bool,
    pub scalars_resident: bool,
    /// Copies of each base on the device: multiples for windows that share buckets.
    pub copies: u32,
    /// Bits of the windows; 0: the model decides.
    pub window: u32,
    /// Rounds of batched affine additions; `None`: the model decides.
    pub rounds: Option<u32>,
    /// The device's compute units.
    pub compute_units: u32,
    /// Vectors of scalars that each chunk is multiplied by.
    pub vectors: u32,
    /// Vectors of one matrix: all of them, or one.
    pub joined: u32,
    /// Streams that take those vectors in turns, each with buffers for a chunk's matrix.
    pub lanes: u32,
    /// Multiplications that run on the device at the same time.
    pub at_once: u32,
    /// Whether an abort hook is set.
    pub abortable: bool,
    /// Windows that the device computes; some of them only if bases have no copies.
    pub own: WindowAssignment,
}

impl PlanInput {
    /// Returns whether GLV can be used with windows of `c` bits: scalars have full length, and the device computes all
    /// windows of bases without copies.
    pub(super) fn can_use_glv(&self, c: u32) -> bool {
        let all = self.copies == 1 && self.own == WindowAssignment::WindowGroup(1);
        all && self.half_bits > 0 && self.scalar_bits == self.full_bits && c <= MAX_HALVED_WINDOW
    }

    /// Returns the bytes that are uploaded for `points` points.
    pub(super) fn input_bytes(&self, points: usize) -> u64 {
        let bases = if self.resident { 0 } else { self.affine_bytes };
        let scalars = if self.scalars_resident { 0 } else { 32 };
        points as u64 * (bases + u64::from(self.vectors) * scalars)
    }

    /// Returns both choices of using GLV with windows of `c` bits, or the only one that is possible or wanted.
    pub(super) fn halvings(self, c: u32) -> impl Iterator<Item = bool> {
        let wanted = if self.can_use_glv(c) { self.halved } else { Some(false) };
        [false, true].into_iter().filter(move |halved| wanted.is_none_or(|wanted| wanted == *halved))
    }
}

/// Holds the properties of a request that a plan depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workload {
    pub points: usize,
    pub bits: u32,
    pub on_device: bool,
    /// Vectors that each chunk of bases is multiplied by while it is on the device.
    pub vectors: u32,
    /// Whether these vectors are one matrix.
    pub joined: bool,
    /// Streams that these vectors share.
    pub lanes: u32,
    /// Multiplications in flight at a time.
    pub at_once: u32,
    pub abortable: bool,
    /// Windows that the device computes.
    pub own: WindowAssignment,
}

impl Workload {
    /// Returns the need of one vector of `points` scalars of `bits` bits on the devices, which has a device's memory to
    /// itself.
    pub fn single(points: usize, bits: u32) -> Self {
        let own = WindowAssignment::WindowGroup(1);
        Self { points, bits, on_device: true, vectors: 1, joined: false, lanes: 1, at_once: 1, abortable: false, own }
    }
}
