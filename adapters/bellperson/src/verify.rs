//! Verifies proofs before they are returned.

use std::{error, fmt, io};

use bellperson::SynthesisError;
use bellperson::groth16::{Proof, VerifyingKey};
use ff::PrimeField;
use group::{Curve, Group};
use pairing::{MillerLoopResult, MultiMillerLoop};
use proofwarp::BackendKind;
use proofwarp::curve::MsmCurve;
use proofwarp::groth16::Engine;
use rayon::prelude::*;

/// Describes a proof that was refused because it does not verify.
#[derive(Debug)]
struct InvalidProof {
    number: usize,
    backend: BackendKind,
}

impl fmt::Display for InvalidProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, backend } = self;
        write!(
            f,
            "proof {number} made on {backend} does not verify: an error of the device, a witness that does not satisfy \
             the constraints, or parameters that are damaged or of another circuit"
        )
    }
}

impl error::Error for InvalidProof {}

/// Returns whether `error` says that a proof does not verify.
pub(crate) fn is_refusal(error: &SynthesisError) -> bool {
    match error {
        SynthesisError::IoError(error) => matches!(error.get_ref(), Some(reason) if reason.is::<InvalidProof>()),
        _ => false,
    }
}

/// Returns `error` with the index of the proof in the caller's batch, if it says that a proof does not verify. `number`
/// maps the index in `error` to that index. Returns other errors unchanged.
pub(crate) fn with_batch_index(error: SynthesisError, number: impl Fn(usize) -> usize) -> SynthesisError {
    let SynthesisError::IoError(error) = error else { return error };
    SynthesisError::IoError(match error.downcast::<InvalidProof>() {
        Ok(refusal) => io::Error::other(InvalidProof { number: number(refusal.number), ..refusal }),
        Err(error) => error,
    })
}

/// Checks that each of `proofs` verifies with `key` for the element of `inputs` at the same index. The first input of a
/// proof is one. The error names `backend`, which made the proofs.
pub(crate) fn check<E: Engine + MultiMillerLoop>(
    key: &VerifyingKey<E>,
    proofs: &[Proof<E>],
    inputs: &[&[E::Fr]],
    backend: BackendKind,
) -> Result<(), SynthesisError> {
    let numbered = proofs.par_iter().zip(inputs).enumerate();
    numbered.try_for_each(|(number, (proof, inputs))| match verifies(key, proof, inputs) {
        true => Ok(()),
        false => Err(SynthesisError::IoError(io::Error::other(InvalidProof { number, backend }))),
    })
}

/// Returns whether `proof` verifies with `key`: its points are in their groups, and e(A, B) = e(α, β) · e(Σ xᵢ·icᵢ,
/// γ) · e(C, δ). The xᵢ are `inputs`. The first input is one.
///
/// bellperson's own verifier first makes tables of the verifying key, which pays only for many proofs.
pub(crate) fn verifies<E: Engine + MultiMillerLoop>(key: &VerifyingKey<E>, proof: &Proof<E>, inputs: &[E::Fr]) -> bool {
    if key.ic.len() != inputs.len() || !is_in_groups(proof) {
        return false;
    }
    let inputs: Vec<[u8; 32]> = inputs.iter().map(to_canonical_bytes).collect();
    let public = E::G1Affine::msm_cpu(&key.ic, &inputs);
    let g2 = [proof.b, key.beta_g2, key.gamma_g2, key.delta_g2].map(E::G2Prepared::from);
    let g1 = [proof.a, -key.alpha_g1, (-public).to_affine(), -proof.c];
    let pairs = [(&g1[0], &g2[0]), (&g1[1], &g2[1]), (&g1[2], &g2[2]), (&g1[3], &g2[3])];
    E::multi_miller_loop(&pairs).final_exponentiation().is_identity().into()
}

/// Returns whether the points of `proof` are in their groups. It writes the proof and reads it again, because
/// bellperson's reader refuses points outside the groups.
fn is_in_groups<E: Engine + MultiMillerLoop>(proof: &Proof<E>) -> bool {
    let mut bytes = Vec::new();
    proof.write(&mut bytes).is_ok() && Proof::<E>::read(&*bytes).is_ok()
}

fn to_canonical_bytes<F: PrimeField>(scalar: &F) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(scalar.to_repr().as_ref());
    bytes
}
