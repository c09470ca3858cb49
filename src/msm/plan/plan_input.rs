//! The input of a plan: a multiplication and its device.

use super::mesh::WindowAssignment;

/// Maximum bits of a window if GLV is used, 19: a bucket then has two rows of the matrix.
const MAX_HALVED_WINDOW: u32 = 19;

/// Holds all properties of a multiplication and of its device that a plan depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanInput {
    pub points: usize,
    /// Maximum bits of this multiplication's scalars.
    pub scalar_bits: u32,
    /// Maximum bits of any scalar of the curve; precomputed multiples are made for these.
    pub full_bits: u32,
    /// Maximum bits of half-length scalars (GLV); 0 if the curve has no GLV.
    pub half_bits: u32,
    /// Whether GLV splits scalars of full length; `None`: the model decides.
    pub halved: Option<bool>,
    pub affine_bytes: u64,
    /// Whether the bases are already on the device.
    pub resident: bool,
    /// Whether the scalars are already on the device.
    pub scalars_resident: bool,
    /// Copies of each base on the device, itself included: multiples with which windows share buckets.
    pub copies: u32,
    /// Bits of the widest windows; 0: the model decides.
    pub window: u32,
    /// Rounds of batched affine additions; `None`: the model decides.
    pub rounds: Option<u32>,
    /// The device's compute units.
    pub compute_units: u32,
    /// Scalar vectors that each chunk of bases is multiplied by.
    pub vectors: u32,
    /// Scalar vectors of one matrix: `vectors` or 1.
    pub joined: u32,
    /// Streams that compute the matrices in turns, each with buffers for one matrix.
    pub lanes: u32,
    /// Multiplications that run on the device at the same time.
    pub at_once: u32,
    /// Whether an abort hook is set.
    pub abortable: bool,
    /// Windows that the device computes: all of them if bases have copies.
    pub own: WindowAssignment,
}

impl PlanInput {
    /// Returns whether GLV can be used with windows of `c` bits. It needs a curve with GLV, full-length scalars, bases
    /// without copies, and a device that computes all windows.
    pub(super) fn can_use_glv(&self, c: u32) -> bool {
        let all = self.copies == 1 && self.own == WindowAssignment::WindowGroup(1);
        all && self.half_bits > 0 && self.scalar_bits == self.full_bits && c <= MAX_HALVED_WINDOW
    }

    /// Returns the bytes of bases and scalars that are uploaded for a chunk of `points` points.
    pub(super) fn input_bytes(&self, points: usize) -> u64 {
        let bases = if self.resident { 0 } else { self.affine_bytes };
        let scalars = if self.scalars_resident { 0 } else { 32 };
        points as u64 * (bases + u64::from(self.vectors) * scalars)
    }

    /// Returns the choices of using GLV (`true`) or not (`false`) with windows of `c` bits: both, or the only one that
    /// is possible or requested.
    pub(super) fn glv_choices(self, c: u32) -> impl Iterator<Item = bool> {
        let wanted = if self.can_use_glv(c) { self.halved } else { Some(false) };
        [false, true].into_iter().filter(move |halved| wanted.is_none_or(|wanted| wanted == *halved))
    }

    /// Returns this input for `vectors` vectors of the same size and bit length that are one matrix.
    pub(crate) fn with_joined(self, vectors: u32) -> Self {
        Self { vectors, joined: vectors, ..self }
    }
}
