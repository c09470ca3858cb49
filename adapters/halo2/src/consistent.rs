//! Checks whether a setup's bases are consistent.

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::halo2curves::pairing::Engine as _;
use halo2_axiom::plonk::Error;
use halo2_axiom::poly::commitment::ParamsProver;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::plonk::{Basis, ColumnView, Engine};

use crate::error::to_halo2_error;
use crate::random::{random_elements, unpredictable_rng};

/// Returns whether the bases of `params`, as `engine` holds them, are powers of the setup's secret times G1, and
/// Lagrange bases of the same secret. It checks two equations of random sums:
/// - Σ rᵢ·Lᵢ = Σ cᵢ·gᵢ, where c are the coefficients of the polynomial with values r, and
/// - e(Σ cᵢ·gᵢ, s·G2) = e(Σ cᵢ·gᵢ₊₁, G2).
///
/// Other bases pass with a probability below n/2^250. The check takes three multi-scalar multiplications over the
/// bases, a transform and two pairings, once for each setup that is uploaded.
///
/// # Errors
/// - `Transcript`: a forced backend failed.
pub(crate) fn is_setup_consistent(engine: &Engine<G1Affine>, params: &ParamsKZG<Bn256>) -> Result<bool, Error> {
    let values = random_elements(params.get_g().len(), &mut unpredictable_rng());
    let commit = |basis, column: &[Fr]| {
        let points = engine.commit(basis, &[ColumnView::new(column)]).map_err(to_halo2_error)?;
        points.first().copied().ok_or(Error::BoundsFailure)
    };
    let lagrange = commit(Basis::Lagrange, &values)?;
    let coefficients = engine.interpolate(&[ColumnView::new(&values)]).and_then(|columns| engine.move_to_host(columns));
    let mut coefficients = coefficients.map_err(to_halo2_error)?.into_iter().next().ok_or(Error::BoundsFailure)?;
    let powers = commit(Basis::Monomial, &coefficients)?;
    // The last base has no successor.
    let last = coefficients.pop().unwrap_or_default();
    coefficients.insert(0, Fr::zero());
    let next = commit(Basis::Monomial, &coefficients)?;
    let without_last = params.get_g().last().map_or(powers, |base| (powers - *base * last).into());
    let is_next = Bn256::pairing(&without_last, &params.s_g2()) == Bn256::pairing(&next, &params.g2());
    Ok(lagrange == powers && is_next)
}
