//! The curves on which multi-scalar multiplication runs, as typed views of memory.
//!
//! On the device an affine point is x, y in Montgomery form, all zero for infinity (no point of these
//! curves has x = y = 0). A result comes back in Jacobian coordinates (X/Z², Y/Z³), Z = 0 for infinity.
//!
//! Points must be infinity or in the subgroup of prime order, with coordinates below the field's modulus. Scalars are
//! taken modulo that order, and the GLV endomorphism is a multiplication only there. Sums over other points are
//! meaningless, and differ from backend to backend; [`crate::msm::Msm::checked`] refuses them. Scalars may be any.

pub mod bls12_377;
mod bls12_381;
#[cfg(any(feature = "bn254", feature = "halo2"))]
mod bn254;
#[cfg(feature = "bn254")]
mod grumpkin;
#[cfg(any(feature = "bn254", feature = "pasta"))]
mod halo2curves_msm;
#[cfg(feature = "bn254")]
mod halo2curves_points;
#[cfg(any(feature = "bn254", feature = "halo2", feature = "pasta"))]
mod nonzero_terms;
mod operator_macros;
#[cfg(feature = "pasta")]
mod pasta;
mod pippenger;
pub mod quadratic_extension;
mod scalar_bytes;
pub mod short_weierstrass;

use std::borrow::Cow;

use group::prime::PrimeCurveAffine;
pub(crate) use scalar_bytes::{scalar_from_bytes, scalar_to_bytes};

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
