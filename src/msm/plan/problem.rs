//! What a plan is for.

use super::grid::Windows;

/// Widest window of halves, which have two rows a bucket.
const MAX_HALVED_WINDOW: u32 = 19;

/// All of a multiplication and of its device that sizes depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Problem {
    pub points: usize,
    /// Bits of the scalars at hand, and of those that precomputed multiples are made for.
    pub scalar_bits: u32,
    pub full_bits: u32,
    /// Bits of the halves of scalars, by the curve's endomorphism.
    pub half_bits: u32,
    /// Whether scalars of full length are halved; none: as the model says.
    pub halved: Option<bool>,
    pub affine_bytes: u64,
    /// The bases are on the device already, and so are the scalars.
    pub resident: bool,
    pub scalars_resident: bool,
    /// Copies of each base there: multiples for windows that share buckets.
    pub copies: u32,
    /// The window to take; 0: the model's.
    pub window: u32,
    /// Rounds of batched affine additions; none: the model's.
    pub rounds: Option<u32>,
    /// The device's compute units.
    pub compute_units: u32,
    /// Vectors of scalars that each chunk is multiplied by.
    pub vectors: u32,
    /// Vectors of one matrix: all of them, or one.
    pub joined: u32,
    /// Streams that take those vectors in turns, each with room for a chunk's matrix.
    pub lanes: u32,
    /// Multiplications that run on it at the same time.
    pub at_once: u32,
    /// Somebody may abort it.
    pub abortable: bool,
    /// Which of the windows the device does; without copies of the bases only.
    pub own: Windows,
}

impl Problem {
    /// Whether scalars can be halved for windows of c bits: those of full length, where the device does all windows of the bases
    /// alone.
    pub(super) fn can_be_halved(&self, c: u32) -> bool {
        let all = self.copies == 1 && self.own == Windows::Group(1);
        all && self.half_bits > 0 && self.scalar_bits == self.full_bits && c <= MAX_HALVED_WINDOW
    }

    /// Bytes that are uploaded for so many points.
    pub(super) fn input_bytes(&self, points: usize) -> u64 {
        let bases = if self.resident { 0 } else { self.affine_bytes };
        let scalars = if self.scalars_resident { 0 } else { 32 };
        points as u64 * (bases + u64::from(self.vectors) * scalars)
    }

    /// Both choices of halving scalars, or the only one that is possible or wanted.
    pub(super) fn halvings(self, c: u32) -> impl Iterator<Item = bool> {
        let wanted = if self.can_be_halved(c) { self.halved } else { Some(false) };
        [false, true].into_iter().filter(move |halved| wanted.is_none_or(|wanted| wanted == *halved))
    }
}

/// What a plan depends on in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    pub points: usize,
    pub bits: u32,
    pub on_device: bool,
    /// Vectors that each chunk of bases is multiplied by while it is there.
    pub vectors: u32,
    /// These are one matrix.
    pub joined: bool,
    /// Streams that these share.
    pub lanes: u32,
    /// Multiplications under way at a time.
    pub at_once: u32,
    pub abortable: bool,
    /// Which windows the device does.
    pub own: Windows,
}

impl Need {
    /// One vector of scalars of so many bits, on the devices, that has a device's memory to itself.
    pub fn alone(points: usize, bits: u32) -> Self {
        let own = Windows::Group(1);
        Self { points, bits, on_device: true, vectors: 1, joined: false, lanes: 1, at_once: 1, abortable: false, own }
    }
}
