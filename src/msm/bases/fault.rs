//! What is wrong with points that come from outside, as kernels report it.

use crate::backend::{Buffer, Stream};
use crate::{Error, Result};

/// What a chunk without a fault leaves.
const NO_FAULT: u32 = u32::MAX;
/// A number above those of all faults, by which kernels multiply the point's.
const FAULTS: u32 = 8;

/// What is wrong with a point; the values are those of `cl/points_check.cl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    NotReduced = 0,
    NotOnCurve = 1,
    OutsideSubgroup = 2,
    Encoding = 3,
    Infinity = 4,
}

/// The first point that is not what it should be, if there is one.
pub(super) type First = Option<(usize, Fault)>;

impl Fault {
    fn from_device(code: u32) -> Result<Self> {
        [Self::NotReduced, Self::NotOnCurve, Self::OutsideSubgroup, Self::Encoding, Self::Infinity]
            .into_iter()
            .find(|fault| *fault as u32 == code)
            .ok_or_else(|| Error::device("device", "points_check", format!("expected a fault below 5, got {code}")))
    }

    /// What is expected of a point, and what it is instead.
    pub fn describe(self) -> [&'static str; 2] {
        match self {
            Self::NotReduced => ["coordinates below the field's modulus", "one that is not below it"],
            Self::NotOnCurve => ["a point on the curve", "coordinates that are not on the curve"],
            Self::OutsideSubgroup => ["a point of the prime-order subgroup", "one outside it"],
            Self::Encoding => ["the flags of an uncompressed point", "others, or infinity with coordinates"],
            Self::Infinity => ["a point of the group other than infinity", "infinity"],
        }
    }
}

/// A result on the device for each chunk of points.
pub(super) struct Faults {
    pub first: Buffer,
    chunks: usize,
}

impl Faults {
    /// Of so many chunks none has a fault yet.
    pub fn new(stream: &mut Stream, chunks: usize) -> Result<Self> {
        let first = stream.allocate(4 * chunks)?;
        stream.upload(&first, &NO_FAULT.to_le_bytes().repeat(chunks))?;
        Ok(Self { first, chunks })
    }

    /// What chunks of so many points have left on the stream, which has run empty then.
    pub fn read(&self, stream: &mut Stream, chunk: usize) -> Result<First> {
        stream.wait(None)?;
        let mut bytes = vec![0; 4 * self.chunks];
        stream.download(&mut bytes, &self.first)?;
        let keys = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let found = keys.enumerate().find(|(_, key)| *key != NO_FAULT);
        let place = |(number, key): (usize, u32)| {
            Ok((number * chunk + (key / FAULTS) as usize, Fault::from_device(key % FAULTS)?))
        };
        found.map(place).transpose()
    }
}
