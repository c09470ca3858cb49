//! Proofs checked before they are handed out.

use std::fmt;

use bellperson::SynthesisError;
use bellperson::groth16::{PreparedVerifyingKey, Proof, VerifyingKey, prepare_verifying_key, verify_proof};
use pairing::MultiMillerLoop;
use proofwarp::BackendKind;
use proofwarp::groth16::Engine;
use rayon::prelude::*;

/// A verifier of one circuit's proofs.
pub struct Verifier<E: Engine + MultiMillerLoop>(PreparedVerifyingKey<E>);

impl<E: Engine + MultiMillerLoop> Verifier<E> {
    pub fn new(key: &VerifyingKey<E>) -> Self {
        Self(prepare_verifying_key(key))
    }

    /// An error unless every proof holds for its inputs, the first of which is one.
    pub fn check(&self, proofs: &[Proof<E>], inputs: &[&[E::Fr]], backend: BackendKind) -> Result<(), SynthesisError> {
        let numbered = proofs.par_iter().zip(inputs).enumerate();
        numbered.try_for_each(|(number, (proof, inputs))| match self.holds(proof, inputs)? {
            true => Ok(()),
            false => Err(SynthesisError::IoError(std::io::Error::other(format!(
                "proof {number} made on {backend} does not verify: an error of the device, a witness that does not \
                 satisfy the constraints, or parameters that are damaged or of another circuit"
            )))),
        })
    }

    /// Whether others will accept the proof: reading it, they refuse points outside of the groups.
    fn holds(&self, proof: &Proof<E>, inputs: &[E::Fr]) -> Result<bool, SynthesisError> {
        let mut bytes = Vec::new();
        proof.write(&mut bytes)?;
        match Proof::read(&*bytes) {
            Ok(proof) => verify_proof(&self.0, &proof, inputs.get(1..).unwrap_or_default()),
            Err(_) => Ok(false),
        }
    }
}

impl<E: Engine + MultiMillerLoop> fmt::Debug for Verifier<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}
