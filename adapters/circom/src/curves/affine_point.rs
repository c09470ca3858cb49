//! Defines the conversion between encoded points and points of curve libraries.

use std::fmt;

use num_bigint::BigUint;

use crate::curves::curve_id::{CurveId, is_below};

/// A group of points of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointGroup {
    /// Points with coordinates in the base field.
    G1,
    /// Points with coordinates in its quadratic extension.
    G2,
}

impl fmt::Display for PointGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::G1 => "G1",
            Self::G2 => "G2",
        })
    }
}

impl PointGroup {
    /// Returns the number of base field elements in a coordinate.
    pub fn degree(self) -> usize {
        match self {
            Self::G1 => 1,
            Self::G2 => 2,
        }
    }

    /// Returns the bytes of a point of `curve`: two coordinates.
    pub fn point_bytes(self, curve: CurveId) -> usize {
        2 * self.degree() * curve.base_prime().len()
    }
}

/// Why bytes or numbers are no point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PointFault {
    /// Another number of bytes or coordinates than a point has.
    Length,
    /// A coordinate is at least q.
    Coordinate,
    /// The coordinates do not satisfy the curve's equation.
    NotOnCurve,
    /// The point has another order than the group.
    NotInSubgroup,
}

impl fmt::Display for PointFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Length => "another length",
            Self::Coordinate => "a coordinate that is not below q",
            Self::NotOnCurve => "one that is not on the curve",
            Self::NotInSubgroup => "one that is not in the subgroup of order r",
        })
    }
}

/// An affine point of a curve library, for the crate's files.
///
/// Implemented for `G1Affine` and `G2Affine` of `halo2curves::bn256` and `blstrs`.
pub trait AffinePoint: Copy + Default + Send + Sync {
    /// Names the point's curve.
    const CURVE: CurveId;
    /// Names the point's group.
    const GROUP: PointGroup;

    /// Returns the point with the encoding `bytes`: x, then y, each little-endian in Montgomery form, c0 before c1. The
    /// point at infinity is all zero.
    ///
    /// # Errors
    /// - [`PointFault::Length`]: another length than [`PointGroup::point_bytes`].
    /// - [`PointFault::Coordinate`]: a coordinate is at least q.
    /// - [`PointFault::NotOnCurve`]: the point is not on the curve.
    fn from_montgomery(bytes: &[u8]) -> Result<Self, PointFault>;

    /// Returns the point's encoding in the form that [`Self::from_montgomery`] reads.
    fn to_montgomery(&self) -> Vec<u8>;

    /// Returns the point with `coordinates` as integers, in the order of [`Self::from_montgomery`].
    ///
    /// # Errors
    /// Those of [`Self::from_montgomery`].
    fn from_integers(coordinates: &[BigUint]) -> Result<Self, PointFault>;

    /// Returns the coordinates as integers, in the order of [`Self::from_montgomery`]; all are 0 at infinity.
    fn to_integers(&self) -> Vec<BigUint>;

    /// Returns whether the point is on the curve and in the subgroup of order r.
    fn is_in_subgroup(&self) -> bool;
}

/// Returns the little-endian bytes of `number`, or `None` if it is at least the curve's q.
pub(crate) fn coordinate_bytes(curve: CurveId, number: &BigUint) -> Option<Vec<u8>> {
    let prime = curve.base_prime();
    let mut bytes = number.to_bytes_le();
    if bytes.len() > prime.len() {
        return None;
    }
    bytes.resize(prime.len(), 0);
    is_below(&bytes, prime).then_some(bytes)
}

/// Checks the length of an encoded point and that its coordinates are below q.
pub(crate) fn check_encoding<P: AffinePoint>(bytes: &[u8]) -> Result<(), PointFault> {
    if bytes.len() != P::GROUP.point_bytes(P::CURVE) {
        return Err(PointFault::Length);
    }
    let prime = P::CURVE.base_prime();
    let is_canonical = bytes.chunks_exact(prime.len()).all(|coordinate| is_below(coordinate, prime));
    if is_canonical { Ok(()) } else { Err(PointFault::Coordinate) }
}

/// Returns the little-endian bytes of a point's integer coordinates.
///
/// # Errors
/// - [`PointFault::Length`]: another number of coordinates than a point has.
/// - [`PointFault::Coordinate`]: a coordinate is at least q.
pub(crate) fn integer_bytes<P: AffinePoint>(coordinates: &[BigUint]) -> Result<Vec<Vec<u8>>, PointFault> {
    if coordinates.len() != 2 * P::GROUP.degree() {
        return Err(PointFault::Length);
    }
    let bytes = coordinates.iter().map(|number| coordinate_bytes(P::CURVE, number));
    bytes.collect::<Option<_>>().ok_or(PointFault::Coordinate)
}
