//! Verifies proofs before they are returned.

use blstrs::{Bls12, G1Affine, G2Affine, G2Prepared, Scalar};
use ff::Field;
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};
use proofwarp::curve::MsmCurve;
use proofwarp::groth16::{Proof, Witness};
use rayon::prelude::*;

use crate::error::{Error, check_equal};

/// Holds the verifying key of a circuit.
#[derive(Debug)]
pub(crate) struct VerifyingKey {
    pub alpha_g1: G1Affine,
    pub beta_g2: G2Affine,
    pub gamma_g2: G2Affine,
    pub delta_g2: G2Affine,
    /// Points icᵢ, one for each input.
    pub ic: Vec<G1Affine>,
}

impl VerifyingKey {
    /// Returns whether `proof` verifies: A, B and C are in their groups, and e(A, B) = e(α, β) · e(Σ xᵢ·icᵢ, γ) · e(C,
    /// δ). The xᵢ are `inputs`. The first input is one.
    pub(crate) fn verifies(&self, proof: &Proof<Bls12>, inputs: &[Scalar]) -> Result<bool, Error> {
        check_equal("number of inputs", self.ic.len(), inputs.len())?;
        let numbers: Vec<[u8; 32]> = inputs.iter().map(Scalar::to_bytes_le).collect();
        let public = G1Affine::msm_cpu(&self.ic, &numbers).to_affine();
        let g2 = [proof.b, self.beta_g2, self.gamma_g2, self.delta_g2].map(G2Prepared::from);
        let g1 = [proof.a, -self.alpha_g1, -public, -proof.c];
        let pairs = [(&g1[0], &g2[0]), (&g1[1], &g2[1]), (&g1[2], &g2[2]), (&g1[3], &g2[3])];
        let in_groups = proof.a.is_torsion_free() & proof.b.is_torsion_free() & proof.c.is_torsion_free();
        Ok((in_groups & Bls12::multi_miller_loop(&pairs).final_exponentiation().is_identity()).into())
    }
}

/// Returns whether `witness` has evaluations with a·b = c in every constraint, and its first input is one.
pub(crate) fn is_satisfied(witness: &Witness<'_, Scalar>) -> bool {
    let one = witness.inputs.first() == Some(&Scalar::ONE);
    one && witness.evaluations.is_some_and(|[a, b, c]| a.par_iter().zip(b).zip(c).all(|((a, b), c)| *a * b == *c))
}
