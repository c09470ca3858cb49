//! Converts points of BLS12-381, by blstrs.

use blstrs::{G1Affine, G2Affine};
use group::UncompressedEncoding;
use group::prime::PrimeCurveAffine;
use num_bigint::BigUint;

use crate::curves::affine_point::{AffinePoint, PointFault, PointGroup, check_encoding, integer_bytes};
use crate::curves::curve_id::CurveId;

/// Bytes that a base field element takes.
const BASE_BYTES: usize = 48;

/// Sets limbs to the little-endian number `bytes`.
fn read_limbs(limbs: &mut [u64; 6], bytes: &[u8]) {
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
        *limb = bytes.iter().rev().fold(0, |limb, byte| limb << 8 | u64::from(*byte));
    }
}

fn limb_bytes(limbs: &[[u64; 6]]) -> Vec<u8> {
    limbs.iter().flatten().flat_map(|limb| limb.to_le_bytes()).collect()
}

fn checked<P>(point: P, is_infinity_or_on_curve: bool) -> Result<P, PointFault> {
    if is_infinity_or_on_curve { Ok(point) } else { Err(PointFault::NotOnCurve) }
}

/// Returns the point by the library's uncompressed encoding: big-endian coordinates, c1 before c0.
fn from_integers<P: AffinePoint + PrimeCurveAffine + UncompressedEncoding>(
    coordinates: &[BigUint],
) -> Result<P, PointFault> {
    let mut parts = integer_bytes::<P>(coordinates)?;
    if parts.iter().flatten().all(|byte| *byte == 0) {
        return Ok(P::identity());
    }
    parts.chunks_exact_mut(P::GROUP.degree()).for_each(<[_]>::reverse);
    let mut encoding = P::Uncompressed::default();
    let bytes = parts.iter().flat_map(|part| part.iter().rev());
    encoding.as_mut().iter_mut().zip(bytes).for_each(|(byte, value)| *byte = *value);
    // The decoder checks the curve's equation too.
    Option::from(P::from_uncompressed_unchecked(&encoding)).ok_or(PointFault::NotOnCurve)
}

fn to_integers<P: AffinePoint + PrimeCurveAffine + UncompressedEncoding>(point: &P) -> Vec<BigUint> {
    if point.is_identity().into() {
        return vec![BigUint::default(); 2 * P::GROUP.degree()];
    }
    let encoding = point.to_uncompressed();
    let mut numbers: Vec<_> = encoding.as_ref().chunks_exact(BASE_BYTES).map(BigUint::from_bytes_be).collect();
    numbers.chunks_exact_mut(P::GROUP.degree()).for_each(<[_]>::reverse);
    numbers
}

impl AffinePoint for G1Affine {
    const CURVE: CurveId = CurveId::Bls12_381;
    const GROUP: PointGroup = PointGroup::G1;

    fn from_montgomery(bytes: &[u8]) -> Result<Self, PointFault> {
        check_encoding::<Self>(bytes)?;
        let (x, y) = bytes.split_at(BASE_BYTES);
        let mut point = Self::default();
        let raw = point.as_mut();
        read_limbs(&mut raw.x.l, x);
        read_limbs(&mut raw.y.l, y);
        checked(point, (point.is_identity() | point.is_on_curve()).into())
    }

    fn to_montgomery(&self) -> Vec<u8> {
        let raw = self.as_ref();
        limb_bytes(&[raw.x.l, raw.y.l])
    }

    fn from_integers(coordinates: &[BigUint]) -> Result<Self, PointFault> {
        from_integers(coordinates)
    }

    fn to_integers(&self) -> Vec<BigUint> {
        to_integers(self)
    }

    fn is_in_subgroup(&self) -> bool {
        (self.is_identity() | (self.is_on_curve() & self.is_torsion_free())).into()
    }
}

impl AffinePoint for G2Affine {
    const CURVE: CurveId = CurveId::Bls12_381;
    const GROUP: PointGroup = PointGroup::G2;

    fn from_montgomery(bytes: &[u8]) -> Result<Self, PointFault> {
        check_encoding::<Self>(bytes)?;
        let mut point = Self::default();
        let raw = point.as_mut();
        let coordinates = raw.x.fp.iter_mut().chain(&mut raw.y.fp);
        coordinates.zip(bytes.chunks_exact(BASE_BYTES)).for_each(|(limbs, bytes)| read_limbs(&mut limbs.l, bytes));
        checked(point, (point.is_identity() | point.is_on_curve()).into())
    }

    fn to_montgomery(&self) -> Vec<u8> {
        let raw = self.as_ref();
        let coordinates: Vec<_> = raw.x.fp.iter().chain(&raw.y.fp).map(|coordinate| coordinate.l).collect();
        limb_bytes(&coordinates)
    }

    fn from_integers(coordinates: &[BigUint]) -> Result<Self, PointFault> {
        from_integers(coordinates)
    }

    fn to_integers(&self) -> Vec<BigUint> {
        to_integers(self)
    }

    fn is_in_subgroup(&self) -> bool {
        (self.is_identity() | (self.is_on_curve() & self.is_torsion_free())).into()
    }
}
