//! What a verifier would say.

use bellperson::groth16::{Proof, VerifyingKey};
use ff::PrimeField;
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};
use proofwarp::curve::MsmCurve;
use proofwarp::groth16::Engine;

/// Whether e(A, B) = e(α, β) · e(Σ xᵢ·icᵢ, γ) · e(C, δ) for the inputs x, the first of which is one.
///
/// bellperson's own verifier makes tables of the verifying key first, which pays only for many proofs.
pub fn verifies<E>(key: &VerifyingKey<E>, proof: &Proof<E>, inputs: &[E::Fr]) -> bool
where
    E: Engine + MultiMillerLoop,
{
    if key.ic.len() != inputs.len() {
        return false;
    }
    let inputs: Vec<[u8; 32]> = inputs.iter().map(canonical).collect();
    let public = E::G1Affine::msm_cpu(&key.ic, &inputs);
    let g2 = [proof.b, key.beta_g2, key.gamma_g2, key.delta_g2].map(E::G2Prepared::from);
    let g1 = [proof.a, -key.alpha_g1, (-public).to_affine(), -proof.c];
    let pairs = [(&g1[0], &g2[0]), (&g1[1], &g2[1]), (&g1[2], &g2[2]), (&g1[3], &g2[3])];
    E::multi_miller_loop(&pairs).final_exponentiation().is_identity().into()
}

fn canonical<F: PrimeField>(scalar: &F) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(scalar.to_repr().as_ref());
    bytes
}
