//! Computes multi-scalar multiplications on the CPU by halo2curves, for its own curves and those of `pasta_curves`.

use halo2curves::CurveAffine;

use super::nonzero_terms::NonZeroTerms;

/// Returns Σ scalarᵢ · pointᵢ, computed by halo2curves on the CPU. Leaves out points at infinity, which that code does
/// not accept, and zero scalars.
pub(super) fn halo2curves_msm<C: CurveAffine>(points: &[C], scalars: &[[u8; 32]]) -> C::Curve {
    let adding = NonZeroTerms::new(points, scalars);
    halo2curves::msm::msm_best(&adding.scalars, &adding.points)
}
