//! The curves on which multi-scalar multiplication runs, as typed views of memory.
//!
//! On the device an affine point is x, y in Montgomery form, all zero for infinity (no point of these
//! curves has x = y = 0). A result comes back in Jacobian coordinates (X/Z², Y/Z³), Z = 0 for infinity.
//!
//! Points must be infinity or in the subgroup of prime order, with coordinates below the field's modulus. Scalars are
//! taken modulo that order, and the GLV endomorphism is a multiplication only there. Sums over other points are
//! meaningless, and differ from backend to backend; [`crate::msm::Msm::checked`] refuses them. Scalars may be any.

mod blst_single_thread;
#[cfg(feature = "halo2")]
mod bn254_axiom;
mod bn254_halo2curves;
mod nonzero_terms;
mod pasta;
mod scalar_bytes;

use std::borrow::Cow;

use blst::{blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use group::prime::PrimeCurveAffine;
use halo2curves::CurveAffine;
use nonzero_terms::{NonZeroTerms, ReducedScalars};
pub(crate) use scalar_bytes::{scalar_from_bytes, scalar_to_bytes};

use crate::kernels::field_and_curve_names;

/// Describes a curve known to the kernels.
pub trait MsmCurve: PrimeCurveAffine {
    /// Names the curve in kernels.
    const NAME: &'static str;
    /// Bytes of an affine point on the device.
    const AFFINE_BYTES: usize;
    /// Bits that a scalar has.
    const SCALAR_BITS: u32;
    /// Whether devices decode points in the curve's uncompressed form, which is as long as their device form:
    /// [`crate::msm::decode()`].
    const HAS_GPU_DECODE: bool = false;

    /// Returns the points' memory in device form, copied only if the Rust type has another layout.
    fn to_device(points: &[Self]) -> Cow<'_, [u8]>;

    /// Reads a point from Jacobian coordinates in device form (3/2 of [`Self::AFFINE_BYTES`]).
    fn from_device(jacobian: &[u8]) -> Self::Curve;

    /// Returns Σ scalarᵢ · pointᵢ, computed on the CPU with the fastest available code. Scalars are numbers of 32
    /// bytes, little-endian, any below 2^256, and as many as points.
    fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Self::Curve;

    /// Returns Σ scalarᵢ · pointᵢ for elements, given by their memory and the name of their field
    /// ([`crate::field::Element`]); `None` if that saves nothing.
    fn msm_cpu_elements(_points: &[Self], _field: &str, _elements: &[[u8; 32]]) -> Option<Self::Curve> {
        None
    }

    /// Returns whether the point is infinity or its coordinates, which are reduced, satisfy the curve's equation.
    fn is_on_curve(&self) -> bool;

    /// Returns whether a point on the curve is infinity or of prime order.
    fn is_torsion_free(&self) -> bool;
}

/// Returns the sum by halo2curves' Pippenger, which accepts no infinity among its points; pairs that add nothing are
/// left out.
fn halo2curves_msm<C: CurveAffine>(points: &[C], scalars: &[[u8; 32]]) -> C::Curve {
    let adding = NonZeroTerms::new(points, scalars);
    halo2curves::msm::msm_best(&adding.scalars, &adding.points)
}

/// Implements the trait for a blst curve, whose wrappers are `repr(transparent)`.
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
