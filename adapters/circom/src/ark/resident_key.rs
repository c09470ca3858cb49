//! Proves with a key whose points and matrices are on the devices.

use std::sync::Arc;

use proofwarp::groth16::{Circuit, Densities};
use proofwarp::matrix::Csr;
use proofwarp::secret_vec::SecretVec;
use proofwarp::{Abort, Accelerator};

use super::assignment::CIRCUIT;
use super::key_points::{KEY, KeyPoints};
use crate::error::Result;
use crate::groth16::{Groth16Engine, Proof};
use crate::prover::resident_prover::{BatchBlinding, ResidentProver};
use crate::verify::PreparedVerificationKey;

/// Holds a key and its circuit's matrices, uploaded once for any number of proofs.
#[derive(Debug)]
pub(crate) struct ResidentKey<E: Groth16Engine> {
    inputs: usize,
    witnesses: usize,
    prover: ResidentProver<E>,
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
        let prover = ResidentProver::new(accelerator, (parameters, form), circuit, verifier)?;
        Ok(Self { inputs, witnesses, prover })
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
        self.prover.device_bytes()
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
        assignments: &[SecretVec<E::Fr>],
        blinding: &BatchBlinding<E>,
        verify: bool,
        abort: Abort<'_>,
    ) -> Result<Vec<Proof<E>>> {
        let name = |_| CIRCUIT.to_owned();
        self.prover.prove(assignments, blinding, verify.then_some(&name), abort)
    }
}
