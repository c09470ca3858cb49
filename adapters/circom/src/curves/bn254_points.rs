//! Converts points of BN254, by halo2curves.

use ff::PrimeField;
use group::cofactor::CofactorGroup;
use group::prime::PrimeCurveAffine;
use halo2curves::CurveAffine;
use halo2curves::bn256::{Fq, Fq2, G1Affine, G2Affine};
use halo2curves::serde::SerdeObject;
use num_bigint::BigUint;

use crate::curves::affine_point::{AffinePoint, PointFault, PointGroup, check_encoding, integer_bytes};
use crate::curves::curve_id::CurveId;

/// Bytes that a base field element takes.
const BASE_BYTES: usize = 32;

/// A coordinate of a point of G1 or G2.
trait Coordinate: Sized {
    /// Returns the element of the encoding `bytes` in Montgomery form. They have the right length and are below q.
    fn read(bytes: &[u8]) -> Self;
    /// Returns the element of little-endian integers.
    fn from_parts(parts: &[Vec<u8>]) -> Option<Self>;
    /// Returns the element's integers, little-endian, 32 bytes each.
    fn to_canonical(&self) -> Vec<u8>;
}

impl Coordinate for Fq {
    fn read(mut bytes: &[u8]) -> Self {
        Self::read_raw_unchecked(&mut bytes)
    }

    fn from_parts(parts: &[Vec<u8>]) -> Option<Self> {
        let bytes = <[u8; BASE_BYTES]>::try_from(parts.first()?.as_slice()).ok()?;
        Self::from_repr(bytes.into()).into()
    }

    fn to_canonical(&self) -> Vec<u8> {
        self.to_bytes().to_vec()
    }
}

impl Coordinate for Fq2 {
    fn read(bytes: &[u8]) -> Self {
        let (c0, c1) = bytes.split_at(bytes.len() / 2);
        Self::new(Fq::read(c0), Fq::read(c1))
    }

    fn from_parts(parts: &[Vec<u8>]) -> Option<Self> {
        let (c0, c1) = parts.split_at_checked(1)?;
        Some(Self::new(Fq::from_parts(c0)?, Fq::from_parts(c1)?))
    }

    fn to_canonical(&self) -> Vec<u8> {
        self.to_bytes().to_vec()
    }
}

fn from_montgomery<P: AffinePoint + CurveAffine<Base: Coordinate>>(bytes: &[u8]) -> Result<P, PointFault> {
    check_encoding::<P>(bytes)?;
    let (x, y) = bytes.split_at(bytes.len() / 2);
    Option::from(P::from_xy(P::Base::read(x), P::Base::read(y))).ok_or(PointFault::NotOnCurve)
}

fn from_integers<P: AffinePoint + CurveAffine<Base: Coordinate>>(coordinates: &[BigUint]) -> Result<P, PointFault> {
    let parts = integer_bytes::<P>(coordinates)?;
    let (x, y) = parts.split_at(P::GROUP.degree());
    let x = P::Base::from_parts(x).ok_or(PointFault::Coordinate)?;
    let y = P::Base::from_parts(y).ok_or(PointFault::Coordinate)?;
    Option::from(P::from_xy(x, y)).ok_or(PointFault::NotOnCurve)
}

fn to_integers(coordinates: &[impl Coordinate]) -> Vec<BigUint> {
    let bytes: Vec<_> = coordinates.iter().flat_map(Coordinate::to_canonical).collect();
    bytes.chunks_exact(BASE_BYTES).map(BigUint::from_bytes_le).collect()
}

impl AffinePoint for G1Affine {
    const CURVE: CurveId = CurveId::Bn254;
    const GROUP: PointGroup = PointGroup::G1;

    fn from_montgomery(bytes: &[u8]) -> Result<Self, PointFault> {
        from_montgomery(bytes)
    }

    fn to_montgomery(&self) -> Vec<u8> {
        self.to_raw_bytes()
    }

    fn from_integers(coordinates: &[BigUint]) -> Result<Self, PointFault> {
        from_integers(coordinates)
    }

    fn to_integers(&self) -> Vec<BigUint> {
        to_integers(&[self.x, self.y])
    }

    /// Returns whether the point is on the curve, whose order is r.
    fn is_in_subgroup(&self) -> bool {
        self.is_on_curve().into()
    }
}

impl AffinePoint for G2Affine {
    const CURVE: CurveId = CurveId::Bn254;
    const GROUP: PointGroup = PointGroup::G2;

    fn from_montgomery(bytes: &[u8]) -> Result<Self, PointFault> {
        from_montgomery(bytes)
    }

    fn to_montgomery(&self) -> Vec<u8> {
        self.to_raw_bytes()
    }

    fn from_integers(coordinates: &[BigUint]) -> Result<Self, PointFault> {
        from_integers(coordinates)
    }

    fn to_integers(&self) -> Vec<BigUint> {
        to_integers(&[self.x, self.y])
    }

    fn is_in_subgroup(&self) -> bool {
        (self.is_on_curve() & self.to_curve().is_torsion_free()).into()
    }
}
