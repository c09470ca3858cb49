//! Reads a section of points.

use std::collections::TryReserveError;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use proofwarp::rayon_waits::check_host_threads;
use rayon::prelude::*;

use crate::curves::affine_point::{AffinePoint, PointFault, PointGroup};
use crate::curves::curve_id::{CurveId, is_below};
use crate::error::{Error, FileSection, Result};

/// Minimum coordinates or points that a thread checks at a time: some tens of microseconds of work.
const MIN_COORDINATES: usize = 1 << 12;
const MIN_POINTS: usize = 1 << 8;

/// Encoded affine points of a zkey: x, then y, each little-endian in Montgomery form, c0 before c1, all zero at infinity.
///
/// Coordinates are below q. Points are not known to be on the curve before [`Self::to_points`] or
/// [`Self::check_on_curve`].
#[derive(Debug, Clone, Copy)]
pub struct RawPoints<'a> {
    place: FileSection<'a>,
    curve: CurveId,
    group: PointGroup,
    bytes: &'a [u8],
}

impl<'a> RawPoints<'a> {
    /// Views `bytes`, a section whose length has been checked.
    pub(crate) fn new(place: FileSection<'a>, curve: CurveId, group: PointGroup, bytes: &'a [u8]) -> Self {
        Self { place, curve, group, bytes }
    }

    /// Returns the points' curve.
    pub fn curve(&self) -> CurveId {
        self.curve
    }

    /// Returns the points' group.
    pub fn group(&self) -> PointGroup {
        self.group
    }

    /// Returns the bytes of one point.
    pub fn point_bytes(&self) -> usize {
        self.group.point_bytes(self.curve)
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.point_bytes()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the encodings, one after the other. They are not aligned.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the encodings, each of [`Self::point_bytes`] bytes.
    pub fn encodings(&self) -> std::slice::ChunksExact<'a, u8> {
        self.bytes.chunks_exact(self.point_bytes())
    }

    /// Returns all points, as those of a curve library, each checked to be on the curve. All threads of rayon's pool
    /// take part.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`]: `P` is of another curve.
    /// - [`Error::Malformed`]: `P` is of the other group, or a point is not on the curve: the first one is named.
    /// - [`Error::Read`]: there is too little memory.
    pub fn to_points<P: AffinePoint>(&self) -> Result<Vec<P>> {
        self.decode(self.par_encodings())
    }

    /// Returns the points at `indices`, in their order, each checked to be on the curve. An index that is too large gives
    /// an error. All threads of rayon's pool take part.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: there is no point at an index.
    /// - [`Self::to_points`] lists the others.
    pub(crate) fn points_at<P: AffinePoint>(&self, indices: &[u32]) -> Result<Vec<P>> {
        let length = self.point_bytes();
        let encoding = |index: &u32| {
            let start = *index as usize * length;
            self.bytes.get(start..start + length).unwrap_or_default()
        };
        self.decode(indices.par_iter().with_min_len(MIN_POINTS).map(encoding))
    }

    /// Returns the points with these `encodings`.
    fn decode<P: AffinePoint>(&self, encodings: impl IndexedParallelIterator<Item = &'a [u8]>) -> Result<Vec<P>> {
        check_host_threads()?;
        self.expect_type::<P>()?;
        let mut points = Vec::new();
        points.try_reserve_exact(encodings.len()).map_err(|error| self.no_memory(error))?;
        let has_fault = AtomicBool::new(false);
        let decode = |bytes| {
            P::from_montgomery(bytes).unwrap_or_else(|_| {
                has_fault.store(true, Ordering::Relaxed);
                P::default()
            })
        };
        points.par_extend(encodings.map(decode));
        if has_fault.into_inner() { Err(self.first_fault::<P>()) } else { Ok(points) }
    }

    /// Returns the point at `index`, as one of a curve library, checked to be on the curve.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`]: `P` is of another curve.
    /// - [`Error::Malformed`]: `P` is of the other group, there is no such point, or it is not on the curve.
    pub fn point<P: AffinePoint>(&self, index: usize) -> Result<P> {
        self.expect_type::<P>()?;
        let bytes = self.encodings().nth(index);
        let bytes = bytes.ok_or_else(|| self.place.malformed("point", format!("less than {}", self.len()), index))?;
        P::from_montgomery(bytes).map_err(|fault| self.fault(index, fault))
    }

    /// Checks that all points are on the curve. All threads of rayon's pool take part. The subgroup is not checked.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: a point is not: the first one is named.
    pub fn check_on_curve(&self) -> Result<()> {
        match (self.curve, self.group) {
            (CurveId::Bn254, PointGroup::G1) => self.check_as::<halo2curves::bn256::G1Affine>(),
            (CurveId::Bn254, PointGroup::G2) => self.check_as::<halo2curves::bn256::G2Affine>(),
            (CurveId::Bls12_381, PointGroup::G1) => self.check_as::<blstrs::G1Affine>(),
            (CurveId::Bls12_381, PointGroup::G2) => self.check_as::<blstrs::G2Affine>(),
        }
    }

    fn check_as<P: AffinePoint>(&self) -> Result<()> {
        let is_good = self.par_encodings().all(|bytes| P::from_montgomery(bytes).is_ok());
        if is_good { Ok(()) } else { Err(self.first_fault::<P>()) }
    }

    /// Checks that all coordinates are below q.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: one is not.
    pub(crate) fn check_coordinates(&self) -> Result<()> {
        let prime = self.curve.base_prime();
        let coordinates = self.bytes.par_chunks_exact(prime.len()).with_min_len(MIN_COORDINATES);
        match coordinates.position_first(|coordinate| !is_below(coordinate, prime)) {
            Some(position) => Err(self.fault(position / (2 * self.group.degree()), PointFault::Coordinate)),
            None => Ok(()),
        }
    }

    /// Returns the encodings, for all threads of rayon's pool.
    pub(crate) fn par_encodings(&self) -> impl IndexedParallelIterator<Item = &'a [u8]> + use<'a> {
        self.bytes.par_chunks_exact(self.point_bytes()).with_min_len(MIN_POINTS)
    }

    fn expect_type<P: AffinePoint>(&self) -> Result<()> {
        if P::CURVE != self.curve {
            return Err(self.place.other_curve(self.curve, P::CURVE));
        }
        if P::GROUP != self.group {
            return Err(self.place.malformed("group", self.group, P::GROUP));
        }
        Ok(())
    }

    /// Returns the error for the first point that is none.
    fn first_fault<P: AffinePoint>(&self) -> Error {
        let mut faults = self.encodings().map(|bytes| P::from_montgomery(bytes).err()).enumerate();
        let first = faults.find_map(|(index, fault)| fault.map(|fault| self.fault(index, fault)));
        // A mapped file can change between the two readings.
        first.unwrap_or_else(|| self.fault(0, PointFault::NotOnCurve))
    }

    fn fault(&self, index: usize, fault: PointFault) -> Error {
        let expected = format!("a point of {} of {}", self.group, self.curve);
        self.place.malformed(format!("point {index}"), expected, fault)
    }

    fn no_memory(&self, error: TryReserveError) -> Error {
        Error::Read { file: self.place.file.to_owned(), source: io::Error::other(error) }
    }
}
