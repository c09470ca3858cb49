//! Verifies proofs.

use std::fmt;

use group::Curve;
use pairing::{MillerLoopResult, MultiMillerLoop};

use super::{Engine, Proof};
use crate::curve::{MsmCurve, scalar_to_bytes};
use crate::rayon_waits::check_host_threads;
use crate::{Error, Result};

/// Holds the verifying key that a circuit's setup makes. Verification does not check its points: they must be in their
/// groups.
#[derive(Debug, Clone)]
pub struct VerifyingKey<E: Engine> {
    /// α in G1.
    pub alpha_g1: E::G1Affine,
    /// β in G2.
    pub beta_g2: E::G2Affine,
    /// γ in G2.
    pub gamma_g2: E::G2Affine,
    /// δ in G2.
    pub delta_g2: E::G2Affine,
    /// Points icᵢ = (β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/γ in G1, one for the constant one and one for each public input.
    pub ic: Vec<E::G1Affine>,
}

/// Holds a verifying key that is prepared for pairings, for many proofs.
pub struct PreparedVerifyingKey<E: Engine + MultiMillerLoop> {
    /// e(α, β).
    alpha_beta: E::Gt,
    minus_gamma: E::G2Prepared,
    minus_delta: E::G2Prepared,
    ic: Vec<E::G1Affine>,
}

/// Holds e(α, β)·e(ic₀ + Σ xᵢ·icᵢ, γ) for public inputs xᵢ. The pairings of a valid proof multiply to it.
pub struct PreparedInputs<E: Engine + MultiMillerLoop>(E::Gt);

/// Returns whether `proof` shows that the circuit of `key` has a witness with these `public_inputs`, which do not
/// contain the constant one. [`PreparedVerifyingKey::verify`] has the equation.
///
/// ```
/// use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
/// use group::prime::PrimeCurveAffine;
/// use proofwarp::groth16::{Proof, VerifyingKey, verify};
///
/// let g1 = |number: u64| G1Affine::from(G1Affine::generator() * Scalar::from(number));
/// let g2 = |number: u64| G2Affine::from(G2Affine::generator() * Scalar::from(number));
/// // Whoever knows the setup's numbers proves without a witness: 4·5 = 2·3 + (1 + 5)·1 + 8·1.
/// let (beta_g2, gamma_g2, delta_g2) = (g2(3), g2(1), g2(1));
/// let key = VerifyingKey::<Bls12> { alpha_g1: g1(2), beta_g2, gamma_g2, delta_g2, ic: vec![g1(1); 2] };
/// let proof = Proof { a: g1(4), b: g2(5), c: g1(8) };
/// assert!(verify(&key, &[Scalar::from(5)], &proof)?);
/// assert!(!verify(&key, &[Scalar::from(6)], &proof)?);
/// # Ok::<(), proofwarp::Error>(())
/// ```
///
/// # Errors
/// - [`Error::Invalid`]: the key has another number of public inputs.
/// - [`Error::Forked`]: [`crate::fork_check`] explains it.
/// - [`Error::Device`]: the system gives rayon no thread.
pub fn verify<E: Engine + MultiMillerLoop>(
    key: &VerifyingKey<E>,
    public_inputs: &[E::Fr],
    proof: &Proof<E>,
) -> Result<bool> {
    PreparedVerifyingKey::new(key.clone()).verify(public_inputs, proof)
}

impl<E: Engine + MultiMillerLoop> PreparedVerifyingKey<E> {
    /// Prepares `key`.
    pub fn new(key: VerifyingKey<E>) -> Self {
        let [minus_gamma, minus_delta] = [key.gamma_g2, key.delta_g2].map(|point| E::G2Prepared::from(-point));
        Self { alpha_beta: E::pairing(&key.alpha_g1, &key.beta_g2), minus_gamma, minus_delta, ic: key.ic }
    }

    /// Returns the number of public inputs, without the constant one.
    pub fn public_input_count(&self) -> usize {
        self.ic.len().saturating_sub(1)
    }

    /// Returns whether `proof` is valid for `public_inputs` xᵢ, which do not contain the constant one. A proof is valid
    /// if its points are in their groups and e(A, B) = e(α, β)·e(ic₀ + Σ xᵢ·icᵢ, γ)·e(C, δ). Infinity is in a group.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the key has another number of public inputs.
    /// - [`Error::Forked`]: [`crate::fork_check`] explains it.
    /// - [`Error::Device`]: the system gives rayon no thread.
    pub fn verify(&self, public_inputs: &[E::Fr], proof: &Proof<E>) -> Result<bool> {
        check_host_threads()?;
        let inputs = self.sum_inputs(public_inputs)?;
        Ok(self.satisfies(proof, &[(&inputs, &self.minus_gamma)], &self.alpha_beta))
    }

    /// Computes the pairings of `public_inputs`. They need no proof, so this can run while the proof is made.
    ///
    /// # Errors
    /// Those of [`verify`](Self::verify).
    pub fn prepare_inputs(&self, public_inputs: &[E::Fr]) -> Result<PreparedInputs<E>> {
        check_host_threads()?;
        let inputs = self.sum_inputs(public_inputs)?;
        let inverse = E::multi_miller_loop(&[(&inputs, &self.minus_gamma)]).final_exponentiation();
        Ok(PreparedInputs(self.alpha_beta - inverse))
    }

    /// Returns whether `proof` is valid for the public inputs that `inputs` was made of.
    ///
    /// # Errors
    /// - [`Error::Forked`]: [`crate::fork_check`] explains it.
    /// - [`Error::Device`]: the system gives rayon no thread.
    pub fn verify_prepared(&self, inputs: &PreparedInputs<E>, proof: &Proof<E>) -> Result<bool> {
        check_host_threads()?;
        Ok(self.satisfies(proof, &[], &inputs.0))
    }

    /// Returns ic₀ + Σ xᵢ·icᵢ for the `public_inputs` xᵢ.
    fn sum_inputs(&self, public_inputs: &[E::Fr]) -> Result<E::G1Affine> {
        let split = self.ic.split_first().filter(|(_, points)| points.len() == public_inputs.len());
        let (first, points) = split.ok_or_else(|| {
            let expected = format!("{}, as the key has {} points ic", self.public_input_count(), self.ic.len());
            Error::invalid("groth16 verify", "number of public inputs", expected, public_inputs.len())
        })?;
        let scalars: Vec<_> = public_inputs.iter().copied().map(scalar_to_bytes).collect();
        Ok((E::G1Affine::msm_cpu(points, &scalars) + first).to_affine())
    }

    /// Returns whether the points of `proof` are in their groups, and e(A, B)·e(C, −δ) times the pairings of `terms` is
    /// `product`. Both checks run in parallel.
    fn satisfies(&self, proof: &Proof<E>, terms: &[(&E::G1Affine, &E::G2Prepared)], product: &E::Gt) -> bool {
        let pairings = || {
            let b = E::G2Prepared::from(proof.b);
            let terms = [&[(&proof.a, &b), (&proof.c, &self.minus_delta)], terms].concat();
            E::multi_miller_loop(&terms).final_exponentiation() == *product
        };
        let in_groups = || is_in_group(&proof.b) && is_in_group(&proof.a) && is_in_group(&proof.c);
        let (in_groups, is_product) = rayon::join(in_groups, pairings);
        in_groups && is_product
    }
}

impl<E: Engine + MultiMillerLoop> fmt::Debug for PreparedVerifyingKey<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreparedVerifyingKey of {} points", self.ic.len())
    }
}

impl<E: Engine + MultiMillerLoop> fmt::Debug for PreparedInputs<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PreparedInputs")
    }
}

fn is_in_group<C: MsmCurve>(point: &C) -> bool {
    point.is_on_curve() && point.is_torsion_free()
}
