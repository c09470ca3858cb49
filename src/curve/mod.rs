//! The curves on which multi-scalar multiplication runs, as typed views of memory.
//!
//! On the device an affine point is x, y in Montgomery form, all zero for infinity (no point of these
//! curves has x = y = 0). A result comes back in Jacobian coordinates (X/Z², Y/Z³), Z = 0 for infinity.
//!
//! Points have to be infinity or of the subgroup of prime order, with coordinates below the field's modulus: scalars are taken
//! modulo that order, and halved by an endomorphism that is a multiplication there alone. Sums over other points mean nothing,
//! and differ from backend to backend; [`crate::msm::Msm::checked`] refuses them. Scalars may be any.

mod bn254;
#[cfg(feature = "halo2")]
mod bn254_axiom;
mod pasta;

use std::borrow::Cow;

use blst::{blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use halo2curves::CurveAffine;
use rayon::prelude::*;

use crate::kernels::name;

/// Scalars or points of a parallel piece: enough work to outweigh handing it over.
const MIN_PIECE: usize = 1 << 10;

/// A curve known to the kernels.
pub trait MsmCurve: PrimeCurveAffine {
    /// The curve's name in kernels.
    const NAME: &'static str;
    /// Bytes of an affine point on the device.
    const AFFINE_BYTES: usize;
    /// Bits of a scalar.
    const SCALAR_BITS: u32;
    /// Whether devices decode points in the curve's uncompressed form, which is as long as they are on the device:
    /// [`crate::msm::decode()`].
    const DECODES: bool = false;

    /// The points' memory as the device has it, copied only where the Rust type is laid out otherwise.
    fn to_device(points: &[Self]) -> Cow<'_, [u8]>;

    /// A point from Jacobian coordinates as the device has them (3/2 of [`Self::AFFINE_BYTES`]).
    fn from_device(jacobian: &[u8]) -> Self::Curve;

    /// Σ scalarᵢ · pointᵢ on the CPU with the fastest code there is; scalars are numbers of 32 bytes, little-endian, any
    /// below 2^256, and as many as points.
    fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve;

    /// Whether the point is infinity or its coordinates, which are reduced, satisfy the curve's equation.
    fn lies_on_curve(&self) -> bool;

    /// Whether a point on the curve is infinity or of prime order.
    fn lies_in_subgroup(&self) -> bool;
}

/// The sum by halo2curves' Pippenger, which takes no infinity among its points; pairs that add nothing
/// are left out.
fn msm_best<C: CurveAffine>(points: &[C], scalars: &[[u8; 32]]) -> C::Curve {
    let pairs = points.par_iter().zip(scalars);
    let adding = pairs.filter(|(point, scalar)| !bool::from(point.is_identity()) && **scalar != [0; 32]);
    let (mut scalars, points): (Vec<_>, Vec<_>) =
        adding.map(|(point, scalar)| (scalar_from_bytes::<C::Scalar>(scalar), *point)).unzip();
    let sum = halo2curves::msm::msm_best(&scalars, &points);
    scalars.fill(C::Scalar::ZERO);
    // Nobody reads them any more, but they are to be stored.
    std::hint::black_box(&scalars);
    sum
}

/// The field element of a little-endian number.
pub(crate) fn scalar_from_bytes<F: PrimeField>(bytes: &[u8; 32]) -> F {
    let mut repr = F::Repr::default();
    repr.as_mut().copy_from_slice(bytes);
    // One product where the number is below the order.
    Option::from(F::from_repr(repr)).unwrap_or_else(|| reduced(bytes))
}

fn reduced<F: PrimeField>(bytes: &[u8; 32]) -> F {
    let shift = F::from(1 << 32).square();
    bytes.rchunks_exact(8).fold(F::ZERO, |sum, limb| {
        let limb = limb.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        sum * shift + F::from(limb)
    })
}

/// A scalar as a little-endian number below the order.
pub(crate) fn scalar_to_bytes<F: PrimeField>(scalar: F) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(scalar.to_repr().as_ref());
    bytes
}

/// The same scalars in as many bits as the order has, for code that reads no others: longer ones modulo the order.
fn in_bits_of_order<F: PrimeField>(scalars: &[[u8; 32]]) -> Cow<'_, [[u8; 32]]> {
    let is_longer = |scalar: &[u8; 32]| scalar[31] >> (F::NUM_BITS - 248) != 0;
    if !scalars.par_iter().with_min_len(MIN_PIECE).any(is_longer) {
        return Cow::Borrowed(scalars);
    }
    let shorter = |scalar: &[u8; 32]| match is_longer(scalar) {
        true => scalar_to_bytes(scalar_from_bytes::<F>(scalar)),
        false => *scalar,
    };
    Cow::Owned(scalars.par_iter().map(shorter).collect())
}

/// Implements the trait for a blst curve, whose wrappers are `repr(transparent)`.
macro_rules! blst_curve {
    ($affine:ty, $projective:ty, $raw_affine:ty, $raw:ty, $name:expr) => {
        const _: () = assert!(size_of::<$affine>() == size_of::<$raw_affine>());
        const _: () = assert!(size_of::<$projective>() == size_of::<$raw>());
        impl MsmCurve for $affine {
            const NAME: &'static str = $name;
            const AFFINE_BYTES: usize = size_of::<$raw_affine>();
            const SCALAR_BITS: u32 = 255;
            const DECODES: bool = true;

            fn to_device(points: &[Self]) -> Cow<'_, [u8]> {
                // SAFETY: the type is a transparent wrapper of blst's C struct of u64 limbs, which has
                // no padding.
                Cow::Borrowed(unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), size_of_val(points)) })
            }

            fn from_device(jacobian: &[u8]) -> Self::Curve {
                assert_eq!(jacobian.len(), size_of::<$raw>());
                // SAFETY: the length was checked, and the type is a transparent wrapper of blst's C
                // struct of u64 limbs, for which all bit patterns are values; reading is unaligned.
                unsafe { std::ptr::read_unaligned(jacobian.as_ptr().cast()) }
            }

            fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve {
                use blst::MultiPoint;
                if points.is_empty() {
                    return <$projective as group::Group>::identity();
                }
                // SAFETY: as in `to_device`.
                let raw = unsafe { std::slice::from_raw_parts(points.as_ptr().cast::<$raw_affine>(), points.len()) };
                let scalars = in_bits_of_order::<Self::Scalar>(scalars);
                let sum = raw.mult(scalars.as_flattened(), Self::SCALAR_BITS as usize);
                // SAFETY: a transparent wrapper of the same struct.
                unsafe { std::mem::transmute::<$raw, $projective>(sum) }
            }

            fn lies_on_curve(&self) -> bool {
                self.is_on_curve().into()
            }

            fn lies_in_subgroup(&self) -> bool {
                self.is_torsion_free().into()
            }
        }
    };
}

blst_curve!(G1Affine, G1Projective, blst_p1_affine, blst_p1, name::BLS12_381_G1);
blst_curve!(G2Affine, G2Projective, blst_p2_affine, blst_p2, name::BLS12_381_G2);
