//! Proves assignments with a key on the devices, and verifies the proofs.

use proofwarp::groth16::{self, Circuit, Parameters, PreparedInputs, ProvingKeyOnDevice, QuotientForm};
use proofwarp::rayon_waits::check_host_threads;
use proofwarp::secret_vec::SecretVec;
use proofwarp::{Abort, Accelerator};
use rayon::prelude::*;

use super::secret_scalars::draw_scalars;
use crate::error::{Error, Result};
use crate::groth16::{Groth16Engine, Proof};
use crate::verify::PreparedVerificationKey;

/// Holds a key and its circuit's matrices, uploaded once for any number of proofs.
#[derive(Debug)]
pub(crate) struct ResidentProver<E: Groth16Engine> {
    key: ProvingKeyOnDevice<E>,
    circuit: Circuit<E::Fr>,
    verifier: PreparedVerificationKey<E>,
}

/// Holds a batch's random scalars, one of each for a proof.
pub(crate) struct BatchBlinding<E: Groth16Engine> {
    pub r: SecretVec<E::Fr>,
    pub s: SecretVec<E::Fr>,
}

impl<E: Groth16Engine> BatchBlinding<E> {
    /// Draws the scalars of `count` proofs from the system's generator.
    ///
    /// # Errors
    /// - [`Error::Randomness`]: the system has no random bytes.
    pub(crate) fn random(count: usize) -> Result<Self> {
        Ok(Self { r: draw_scalars(E::CURVE, count)?, s: draw_scalars(E::CURVE, count)? })
    }
}

impl<E: Groth16Engine> ResidentProver<E> {
    /// Uploads `parameters` and `circuit` to the first device of `accelerator`. `verifier` verifies proofs.
    ///
    /// # Errors
    /// - [`Error::Engine`]: δ is zero, lengths of `parameters` do not suit `form`, or a forced backend has too little
    ///   memory or fails.
    pub(crate) fn new(
        accelerator: &Accelerator,
        (parameters, form): (Parameters<E>, QuotientForm<E::Fr>),
        circuit: Circuit<E::Fr>,
        verifier: PreparedVerificationKey<E>,
    ) -> Result<Self> {
        let key = ProvingKeyOnDevice::with_quotient_form(accelerator, parameters, form)?;
        key.upload(accelerator, None)?;
        let first = accelerator.devices().first().cloned().into_iter().collect();
        circuit.upload(&accelerator.with_devices(first), None)?;
        Ok(Self { key, circuit, verifier })
    }

    /// Returns the number of bytes that the key and its matrices take on all devices together.
    pub(crate) fn device_bytes(&self) -> u64 {
        self.key.device_bytes() + self.circuit.device_bytes()
    }

    /// Proves each of `assignments`, spread over all devices. Each has a value for every variable. With `verify`, the
    /// proofs are verified. `name` returns the name of an assignment for errors.
    ///
    /// # Errors
    /// - [`Error::InvalidProof`]: a proof does not verify.
    /// - [`Error::Engine`]: there are fewer or more random scalars than assignments, the hook aborted, or a forced
    ///   backend has too little memory or fails.
    pub(crate) fn prove(
        &self,
        assignments: &[SecretVec<E::Fr>],
        blinding: &BatchBlinding<E>,
        verify: Option<&(dyn Fn(usize) -> String + Sync)>,
        abort: Abort<'_>,
    ) -> Result<Vec<Proof<E>>> {
        check_host_threads()?;
        let inputs = self.circuit.input_count();
        let split = assignments.iter().map(|values| values.split_at(inputs));
        let witnesses: Vec<_> =
            split.map(|(inputs, aux)| groth16::Witness { inputs, aux: aux.into(), evaluations: None }).collect();
        let prove = || groth16::prove(&self.key, &self.circuit, &witnesses, &blinding.r, &blinding.s, abort);
        let prepare =
            || witnesses.par_iter().map(|witness| self.verifier.prepare_signals(&witness.inputs[1..])).collect();
        let (proofs, signals) = if verify.is_some() { beside(prove, prepare) } else { (prove(), None) };
        let proofs: Vec<_> = proofs?.0.into_iter().map(|groth16::Proof { a, b, c }| Proof { a, b, c }).collect();
        if let Some(name) = verify {
            let signals: Result<Vec<_>> = signals.unwrap_or_else(prepare);
            self.verify_all(&proofs, &signals?, name)?;
        }
        Ok(proofs)
    }

    /// Verifies each of `proofs` with the public signals at its index.
    ///
    /// # Errors
    /// - [`Error::InvalidProof`]: a proof does not verify.
    fn verify_all(
        &self,
        proofs: &[Proof<E>],
        signals: &[PreparedInputs<E>],
        name: &(dyn Fn(usize) -> String + Sync),
    ) -> Result<()> {
        let is_valid = |(proof, signals)| self.verifier.verify_prepared(signals, proof).unwrap_or(false);
        match proofs.par_iter().zip(signals).position_first(|pair| !is_valid(pair)) {
            Some(index) => Err(Error::InvalidProof { file: name(index) }),
            None => Ok(()),
        }
    }
}

/// Runs `main` on this thread, and `other` on a thread of rayon's pool meanwhile. Returns the results of both. The
/// second is `None` only if `other` did not run.
fn beside<A, B: Send>(main: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, Option<B>) {
    let mut second = None;
    let first = rayon::in_place_scope(|scope| {
        scope.spawn(|_| second = Some(other()));
        main()
    });
    (first, second)
}
