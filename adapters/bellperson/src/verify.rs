//! Verifies proofs before they are returned.

use std::{error, fmt, io};

use bellperson::SynthesisError;
use bellperson::groth16::{Proof, VerifyingKey};
use group::prime::PrimeCurveAffine;
use pairing::MultiMillerLoop;
use proofwarp::BackendKind;
use proofwarp::groth16::{self, Engine, PreparedVerifyingKey, Witness};
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

/// Checks that each of `proofs` verifies with `key` for the element of `witnesses` at the same index. The error names
/// `backend`, which made the proofs.
pub(crate) fn check<E: Engine + MultiMillerLoop>(
    key: &PreparedVerifyingKey<E>,
    proofs: &[Proof<E>],
    witnesses: &[Witness<'_, E::Fr>],
    backend: BackendKind,
) -> Result<(), SynthesisError> {
    let numbered = proofs.par_iter().zip(witnesses).enumerate();
    numbered.try_for_each(|(number, (proof, witness))| match verifies(key, proof, witness) {
        true => Ok(()),
        false => Err(SynthesisError::IoError(io::Error::other(InvalidProof { number, backend }))),
    })
}

/// Returns whether `proof` verifies with `key` for the inputs of `witness`. bellperson's readers refuse proofs with a
/// point at infinity, so none verifies.
pub(crate) fn verifies<E: Engine + MultiMillerLoop>(
    key: &PreparedVerifyingKey<E>,
    &Proof { a, b, c }: &Proof<E>,
    witness: &Witness<'_, E::Fr>,
) -> bool {
    let finite = !bool::from(a.is_identity() | b.is_identity() | c.is_identity());
    let is_valid = |inputs| key.verify(inputs, &groth16::Proof { a, b, c }).unwrap_or(false);
    finite && witness.public_inputs().is_some_and(is_valid)
}

/// Prepares `key` for [`verifies`].
pub(crate) fn prepare<E: Engine + MultiMillerLoop>(key: &VerifyingKey<E>) -> PreparedVerifyingKey<E> {
    let &VerifyingKey { alpha_g1, beta_g2, gamma_g2, delta_g2, .. } = key;
    PreparedVerifyingKey::new(groth16::VerifyingKey { alpha_g1, beta_g2, gamma_g2, delta_g2, ic: key.ic.clone() })
}
