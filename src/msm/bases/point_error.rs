//! Faults of untrusted points, as kernels report them.

use crate::backend::{Buffer, Stream};
use crate::{Error, Result};

/// Result of a chunk without an invalid point.
const NO_ERROR: u32 = u32::MAX;
/// Factor above all fault codes: the result of a chunk is `FAULTS` · index of the point + fault code.
const FAULTS: u32 = 8;

/// Names the fault of a point; the values are those of `cl/msm_check_points.cl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointError {
    NotReduced = 0,
    NotOnCurve = 1,
    OutsideSubgroup = 2,
    Encoding = 3,
    Infinity = 4,
}

/// Index and fault of the first invalid point; `None` if all points are valid.
pub(super) type FirstInvalidPoint = Option<(usize, PointError)>;

impl PointError {
    fn from_device(code: u32) -> Result<Self> {
        [Self::NotReduced, Self::NotOnCurve, Self::OutsideSubgroup, Self::Encoding, Self::Infinity]
            .into_iter()
            .find(|fault| *fault as u32 == code)
            .ok_or_else(|| Error::device("device", "points_check", format!("expected a fault below 5, got {code}")))
    }

    /// Returns two texts for an error: the expected point, then the actual one.
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

/// Holds a result on the device for each chunk of points: the first invalid point of the chunk, and its fault.
pub(super) struct PointErrorBuffer {
    pub first: Buffer,
    chunks: usize,
}

impl PointErrorBuffer {
    /// Allocates the results of `chunks` chunks, none of which has an invalid point yet.
    pub fn new(stream: &mut Stream, chunks: usize) -> Result<Self> {
        let first = stream.allocate(4 * chunks)?;
        stream.upload(&first, &NO_ERROR.to_le_bytes().repeat(chunks))?;
        Ok(Self { first, chunks })
    }

    /// Waits until `stream` runs empty and returns the first invalid point. Its index counts all points, in chunks of
    /// `chunk` points.
    pub fn read(&self, stream: &mut Stream, chunk: usize) -> Result<FirstInvalidPoint> {
        stream.synchronize(None)?;
        let mut bytes = vec![0; 4 * self.chunks];
        stream.download(&mut bytes, &self.first)?;
        let keys = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let found = keys.enumerate().find(|(_, key)| *key != NO_ERROR);
        let place = |(number, key): (usize, u32)| {
            Ok((number * chunk + (key / FAULTS) as usize, PointError::from_device(key % FAULTS)?))
        };
        found.map(place).transpose()
    }
}
