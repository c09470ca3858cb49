//! The curves on which multi-scalar multiplication runs, as typed views of memory.
//!
//! On the device an affine point is x, y in Montgomery form, all zero for infinity (no point of these
//! curves has x = y = 0). A result comes back in Jacobian coordinates (X/Z², Y/Z³), Z = 0 for infinity.
//!
//! Points must be infinity or in the subgroup of prime order, with coordinates below the field's modulus. Scalars are
//! taken modulo that order, and the GLV endomorphism is a multiplication only there. Sums over other points are
//! meaningless, and differ from backend to backend; [`crate::msm::Msm::checked`] refuses them. Scalars may be any.

pub mod bls12_377;
mod blst_single_thread;
#[cfg(feature = "halo2")]
mod bn254_axiom;
mod bn254_halo2curves;
mod nonzero_terms;
mod operator_macros;
mod pasta;
mod pippenger;
pub mod quadratic_extension;
mod scalar_bytes;
pub mod short_weierstrass;

use std::borrow::Cow;

use blst::{blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use group::prime::PrimeCurveAffine;
use halo2curves::CurveAffine;
use nonzero_terms::{NonZeroTerms, ReducedScalars};
pub(crate) use scalar_bytes::{scalar_from_bytes, scalar_to_bytes};

use crate::kernels::field_and_curve_names;

/// Describes a curve that has GPU kernels, and converts its points to and from device form. Affine point types
/// implement it.
pub trait MsmCurve: PrimeCurveAffine {
    /// Name of the curve in kernels and reports, such as `bls12_381_g1`.
    const NAME: &'static str;
    /// Bytes of an affine point on the device: both coordinates.
    const AFFINE_BYTES: usize;
    /// Maximum bits of a scalar below the group's order.
    const SCALAR_BITS: u32;
    /// Whether devices can decode points in the curve's uncompressed encoding ([`crate::msm::decode()`]). An encoded
    /// point is as long as one in device form.
    const HAS_GPU_DECODE: bool = false;

    /// Returns `points` in device form: [`Self::AFFINE_BYTES`] bytes each, x, then y, in Montgomery form. Copies them
    /// only if the Rust type has another layout.
    fn to_device(points: &[Self]) -> Cow<'_, [u8]>;

    /// Decodes a point from `jacobian`: X, Y and Z in Montgomery form, 3/2 · [`Self::AFFINE_BYTES`] bytes together.
    fn from_device(jacobian: &[u8]) -> Self::Curve;

    /// Returns Σ scalarᵢ · pointᵢ, computed on the CPU with the fastest available code. There are as many `scalars` as
    /// `points`: little-endian numbers, any below 2^256.
    fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve;

    /// Returns Σ scalarᵢ · pointᵢ, computed on the CPU from field elements that are not converted first. `_elements` is
    /// their memory, and `_field` names their field ([`crate::field::Element`]). Returns `None` if that saves nothing.
    fn msm_cpu_elements(_points: &[Self], _field: &str, _elements: &[[u8; 32]]) -> Option<Self::Curve> {
        None
    }

    /// Returns whether the point is infinity or satisfies the curve's equation. Its coordinates must be below the
    /// field's modulus.
    fn is_on_curve(&self) -> bool;

    /// Returns whether the point, which must be on the curve, is in the subgroup of prime order. Infinity is.
    fn is_torsion_free(&self) -> bool;
}

/// Returns Σ scalarᵢ · pointᵢ, computed by halo2curves on the CPU. Leaves out points at infinity, which that code does
/// not accept, and zero scalars.
fn halo2curves_msm<C: CurveAffine>(points: &[C], scalars: &[[u8; 32]]) -> C::Curve {
    let adding = NonZeroTerms::new(points, scalars);
    halo2curves::msm::msm_best(&adding.scalars, &adding.points)
}

/// Implements [`MsmCurve`] for an affine type of blstrs, a `repr(transparent)` wrapper of blst's type.
macro_rules! blst_curve {
    ($affine:ty, $projective:ty, $raw_affine:ty, $raw:ty, $name:expr, $alone:path) => {
        const _: () = assert!(size_of::<$affine>() == size_of::<$raw_affine>());
        const _: () = assert!(size_of::<$projective>() == size_of::<$raw>());
        impl MsmCurve for $affine {
            const NAME: &'static str = $name;
            const AFFINE_BYTES: usize = size_of::<$raw_affine>();
            const SCALAR_BITS: u32 = 255;
            const HAS_GPU_DECODE: bool = true;

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
                let scalars = ReducedScalars::new::<Self::Scalar>(scalars);
                let bits = Self::SCALAR_BITS as usize;
                let threads = blst_single_thread::has_threads();
                let sum = if threads { raw.mult(scalars.as_flattened(), bits) } else { $alone(raw, &scalars, bits) };
                // SAFETY: the type is a transparent wrapper of the same struct.
                unsafe { std::mem::transmute::<$raw, $projective>(sum) }
            }

            fn is_on_curve(&self) -> bool {
                self.is_on_curve().into()
            }

            fn is_torsion_free(&self) -> bool {
                self.is_torsion_free().into()
            }
        }
    };
}

blst_curve!(
    G1Affine,
    G1Projective,
    blst_p1_affine,
    blst_p1,
    field_and_curve_names::BLS12_381_G1,
    blst_single_thread::p1_sum
);
blst_curve!(
    G2Affine,
    G2Projective,
    blst_p2_affine,
    blst_p2,
    field_and_curve_names::BLS12_381_G2,
    blst_single_thread::p2_sum
);
