//! A circuit with its key, ready to prove.

use bellperson::groth16::{ParameterSource, Proof, VerifyingKey};
use bellperson::{Circuit, SynthesisError};
use pairing::MultiMillerLoop;
use proofwarp::backend::Abort;
use proofwarp::field::NttField;
use proofwarp::groth16::{self, Batch, Engine, ProvingKeyOnDevice, Witness, prove};
use proofwarp::{Accelerator, Report};
use rayon::prelude::*;

use crate::capture::{Capture, Count};
use crate::evaluations::Evaluations;
use crate::failed;
use crate::key::parameters;
use crate::matrices::Matrices;
use crate::turn::Turn;
use crate::verify::check;

/// A circuit's matrices and its key on the devices: from then on a proof takes a circuit's assignment only, and
/// circuits are not asked for the terms of their constraints.
#[derive(Debug)]
pub struct Prover<E: Engine + MultiMillerLoop> {
    key: ProvingKeyOnDevice<E>,
    circuit: groth16::Circuit<E::Fr>,
    verifying_key: VerifyingKey<E>,
    verify: bool,
}

/// A circuit's assignment.
pub type Assignment<F> = Capture<F, Count>;

impl<E: Engine + MultiMillerLoop> Prover<E> {
    /// Takes down the matrices of a circuit that has an assignment, and gives that too.
    ///
    /// # Errors
    /// The circuit's or the parameters', or these do not belong to the circuit, or a forced backend failed.
    pub fn new<P: ParameterSource<E>>(
        accelerator: &Accelerator,
        circuit: impl Circuit<E::Fr>,
        source: &P,
    ) -> Result<(Self, Assignment<E::Fr>), SynthesisError> {
        let (circuit, assignment) = taken_down(circuit)?;
        let key = ProvingKeyOnDevice::new(accelerator, parameters(source, &circuit)?).map_err(failed)?;
        let verifying_key = source.get_vk(circuit.inputs())?.clone();
        Ok((Self::from_parts(key, circuit, verifying_key), assignment))
    }

    /// A prover of a circuit and its key.
    pub fn from_parts(
        key: ProvingKeyOnDevice<E>,
        circuit: groth16::Circuit<E::Fr>,
        verifying_key: VerifyingKey<E>,
    ) -> Self {
        Self { key, circuit, verifying_key, verify: false }
    }

    /// Whether each proof is verified before it is returned, which takes some milliseconds: one that does not verify is
    /// an error then, be it the device's, the witness's, or that of damaged parameters.
    #[must_use]
    pub fn verify(self, verify: bool) -> Self {
        Self { verify, ..self }
    }

    /// The verifying key.
    pub fn verifying_key(&self) -> &VerifyingKey<E> {
        &self.verifying_key
    }

    /// The key.
    pub fn key(&self) -> &ProvingKeyOnDevice<E> {
        &self.key
    }

    /// The circuit.
    pub fn circuit(&self) -> &groth16::Circuit<E::Fr> {
        &self.circuit
    }

    /// The assignments of circuits that differ from this one in nothing else.
    ///
    /// # Errors
    /// The circuits', or one has another number of constraints.
    pub fn assign<C>(&self, circuits: Vec<C>) -> Result<Vec<Assignment<E::Fr>>, SynthesisError>
    where
        C: Circuit<E::Fr> + Send,
    {
        assign(circuits)
    }

    /// A proof for each assignment, with its r and s.
    ///
    /// # Errors
    /// Lengths differ, the hook aborted, a forced backend failed, or a proof does not verify where
    /// [`verify`](Self::verify) is set.
    pub fn prove(
        &self,
        assignments: &[Assignment<E::Fr>],
        r: &[E::Fr],
        s: &[E::Fr],
        abort: Abort<'_>,
    ) -> Result<(Vec<Proof<E>>, Report), SynthesisError> {
        let witnesses = self.witnesses(assignments)?;
        let (proofs, report) = prove(&self.key, &self.circuit, &witnesses, r, s, abort).map_err(failed)?;
        Ok((self.finished(proofs, &witnesses, &report)?, report))
    }

    /// Proofs as those of [`Self::prove`], made in turn with other processes.
    pub(crate) fn prove_in_turn(
        &self,
        turn: &mut Turn,
        assignments: &[Assignment<E::Fr>],
        r: &[E::Fr],
        s: &[E::Fr],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let witnesses = self.witnesses(assignments)?;
        let batch = Batch::new(&self.key, &self.circuit, &witnesses, r, s).map_err(failed)?;
        let report = turn.run(&batch)?;
        self.finished(batch.proofs().map_err(failed)?, &witnesses, &report)
    }

    fn witnesses<'a>(&self, assignments: &'a [Assignment<E::Fr>]) -> Result<Vec<Witness<'a, E::Fr>>, SynthesisError> {
        for (number, assignment) in assignments.iter().enumerate() {
            let (expected, actual) = (self.circuit.constraints(), assignment.record.0);
            if expected != actual {
                let what = format!("constraints of circuit {number}");
                return Err(failed(proofwarp::Error::invalid("groth16", what, expected, actual)));
            }
        }
        let witness = |Capture { inputs, aux, .. }: &'a Assignment<_>| Witness { inputs, aux, evaluations: None };
        Ok(assignments.iter().map(witness).collect())
    }

    /// Proofs as bellperson has them, verified if they are to be.
    fn finished(
        &self,
        proofs: Vec<groth16::Proof<E>>,
        witnesses: &[Witness<'_, E::Fr>],
        report: &Report,
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let proofs: Vec<_> = proofs.into_iter().map(proof).collect();
        if self.verify {
            let inputs: Vec<_> = witnesses.iter().map(|witness| witness.inputs).collect();
            check(&self.verifying_key, &proofs, &inputs, report.backend)?;
        }
        Ok(proofs)
    }
}

/// Runs a circuit that has an assignment, and takes down both its matrices and that.
pub(crate) fn taken_down<F: NttField>(
    circuit: impl Circuit<F>,
) -> Result<(groth16::Circuit<F>, Assignment<F>), SynthesisError> {
    let Capture { inputs, aux, record } = Capture::<_, Matrices<F>>::of(circuit)?;
    let circuit = record.circuit(inputs.len(), aux.len()).map_err(failed)?;
    let record = Count(circuit.constraints());
    Ok((circuit, Assignment { inputs, aux, record }))
}

/// The assignments of circuits.
pub(crate) fn assign<F: NttField, C: Circuit<F> + Send>(
    circuits: Vec<C>,
) -> Result<Vec<Assignment<F>>, SynthesisError> {
    circuits.into_par_iter().map(Capture::of).collect()
}

/// Proofs of circuits whose constraints are evaluated on the host while they are run, as bellperson does it: nothing is
/// taken down for later proofs.
///
/// # Errors
/// As those of [`Prover`].
pub fn prove_evaluated<E, C, P>(
    accelerator: &Accelerator,
    circuits: Vec<C>,
    source: &P,
    r: &[E::Fr],
    s: &[E::Fr],
) -> Result<(Vec<Proof<E>>, Report), SynthesisError>
where
    E: Engine + MultiMillerLoop,
    C: Circuit<E::Fr> + Send,
    P: ParameterSource<E>,
{
    let captures: Vec<Capture<E::Fr, Evaluations<E::Fr>>> =
        circuits.into_par_iter().map(Capture::of).collect::<Result<_, _>>()?;
    let Some(first) = captures.first() else {
        return Err(SynthesisError::IncompatibleLengthVector("no circuits to prove".to_owned()));
    };
    let circuit = first.record.circuit().map_err(failed)?;
    let key = ProvingKeyOnDevice::new(accelerator, parameters(source, &circuit)?).map_err(failed)?;
    let witnesses: Vec<_> = captures
        .iter()
        .map(|capture| Witness {
            inputs: &capture.inputs,
            aux: &capture.aux,
            evaluations: Some(capture.record.slices()),
        })
        .collect();
    let (proofs, report) = prove(&key, &circuit, &witnesses, r, s, None).map_err(failed)?;
    Ok((proofs.into_iter().map(proof).collect(), report))
}

fn proof<E: Engine + MultiMillerLoop>(proof: groth16::Proof<E>) -> Proof<E> {
    Proof { a: proof.a, b: proof.b, c: proof.c }
}
