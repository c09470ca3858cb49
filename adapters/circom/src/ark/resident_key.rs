//! Proves with a key whose points and matrices are on the devices.

use std::sync::Arc;

use proofwarp::groth16::{self, Circuit, Densities, ProvingKeyOnDevice};
use proofwarp::matrix::Csr;
use proofwarp::{Abort, Accelerator};
use rayon::prelude::*;

use super::assignment::CIRCUIT;
use super::key_points::{KEY, KeyPoints};
use crate::error::{Error, Result};
use crate::groth16::{Groth16Engine, Proof};
use crate::prover::secret_scalars::SecretScalars;
use crate::verify::PreparedVerificationKey;

/// Holds a key and its circuit's matrices, uploaded once for any number of proofs.
#[derive(Debug)]
pub(crate) struct ResidentKey<E: Groth16Engine> {
    inputs: usize,
    witnesses: usize,
    key: ProvingKeyOnDevice<E>,
    circuit: Circuit<E::Fr>,
    verifier: PreparedVerificationKey<E>,
}

/// Holds a batch's random scalars, one of each for a proof.
pub(crate) struct BatchBlinding<E: Groth16Engine> {
    pub r: SecretScalars<E::Fr>,
    pub s: SecretScalars<E::Fr>,
}

impl<E: Groth16Engine> ResidentKey<E> {
    /// Uploads `points` and the matrices A and B to the first device of `accelerator`. `root` returns a primitive root
    /// of unity of an order, as arkworks has it.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: lengths of `points` do not match each other or the matrices, or a point of the
    ///   verification key is not in the subgroup.
    /// - [`Error::Unsupported`]: the field has no domain of the size.
    /// - [`Error::Engine`]: δ is zero, or a forced backend has too little memory or fails.
    pub(crate) fn new(
        accelerator: &Accelerator,
        points: KeyPoints<E>,
        matrices: [Arc<Csr<E::Fr>>; 2],
        root: impl Fn(u64) -> Option<E::Fr>,
    ) -> Result<Self> {
        points.check_lengths()?;
        let form = points.quotient_form(matrices[0].rows().next_power_of_two(), root)?;
        let verifier = PreparedVerificationKey::with_name(KEY, &points.verification_key)?;
        let (inputs, witnesses) = (points.inputs(), points.l.len());
        let (parameters, occurrence) = points.into_parameters();
        let (b_inputs, b_aux) = occurrence.b.split_at(inputs);
        let circuit =
            Circuit::from_two_matrices(Densities { a_aux: &occurrence.a[inputs..], b_inputs, b_aux }, matrices)?;
        let key = ProvingKeyOnDevice::with_quotient_form(accelerator, parameters, form)?;
        key.upload(accelerator, None)?;
        circuit
            .upload(&accelerator.with_devices(accelerator.devices().first().cloned().into_iter().collect()), None)?;
        Ok(Self { inputs, witnesses, key, circuit, verifier })
    }

    /// Returns the number of inputs, with the constant one.
    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the number of witness variables.
    pub(crate) fn witnesses(&self) -> usize {
        self.witnesses
    }

    /// Returns the number of bytes that the key and its matrices take on all devices together.
    pub(crate) fn device_bytes(&self) -> u64 {
        self.key.device_bytes() + self.circuit.device_bytes()
    }

    /// Proves each of `assignments`, spread over all devices. Each has a value for every variable. Verifies the proofs
    /// if `verify` is set.
    ///
    /// # Errors
    /// - [`Error::InvalidProof`]: a proof does not verify.
    /// - [`Error::Engine`]: there are fewer or more random scalars than assignments, the hook aborted, or a forced
    ///   backend has too little memory or fails.
    pub(crate) fn prove(
        &self,
        assignments: &[SecretScalars<E::Fr>],
        blinding: &BatchBlinding<E>,
        verify: bool,
        abort: Abort<'_>,
    ) -> Result<Vec<Proof<E>>> {
        let witnesses = assignments.iter().map(|values| {
            let (inputs, aux) = values.split_at(self.inputs);
            groth16::Witness { inputs, aux, evaluations: None }
        });
        let witnesses: Vec<_> = witnesses.collect();
        let (proofs, _) = groth16::prove(&self.key, &self.circuit, &witnesses, &blinding.r, &blinding.s, abort)?;
        let proofs = proofs.into_iter().map(|groth16::Proof { a, b, c }| Proof { a, b, c }).collect::<Vec<_>>();
        if verify {
            proofs
                .par_iter()
                .zip(&witnesses)
                .try_for_each(|(proof, witness)| self.verify(proof, &witness.inputs[1..]))?;
        }
        Ok(proofs)
    }

    fn verify(&self, proof: &Proof<E>, public: &[E::Fr]) -> Result<()> {
        let is_valid = self.verifier.verify(public, proof).unwrap_or(false);
        if is_valid { Ok(()) } else { Err(Error::InvalidProof { file: CIRCUIT.to_owned() }) }
    }
}
