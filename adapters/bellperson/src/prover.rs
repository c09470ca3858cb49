//! A circuit with its key, ready to prove.

use bellperson::groth16::{ParameterSource, Proof, VerifyingKey};
use bellperson::{Circuit, SynthesisError};
use pairing::MultiMillerLoop;
use proofwarp::backend::Abort;
use proofwarp::field::NttField;
use proofwarp::groth16::{self, Batch, Engine, ProvingKeyOnDevice, Witness, prove};
use proofwarp::{Accelerator, Error, Report};
use rayon::prelude::*;

use crate::capture::{Capture, Count};
use crate::evaluations::{Evaluated, evaluated};
use crate::failed;
use crate::key::parameters;
use crate::matrices::Matrices;
use crate::turn::Turn;
use crate::verify::check;

/// A circuit's matrices and its key on the devices: from then on a proof takes a circuit's assignment only, and
/// circuits are not asked for the terms of their constraints.
///
/// All proofs are by the constraints of the circuit that it was made of, which are presumed to be the key's and those of
/// every circuit that is proved later. Another circuit is told only by its numbers of constraints and variables, which is
/// an error: else its proof is one of that assignment for *these* constraints, and does not verify unless it
/// happens to satisfy them. With [`verify(true)`](Self::verify) that is an error too.
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

    /// The assignments of circuits that are presumed to differ from this one in nothing else: of their constraints nothing
    /// but the number is looked at.
    ///
    /// # Errors
    /// The circuits'.
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
        witnesses: &[Witness<'_, E::Fr>],
        r: &[E::Fr],
        s: &[E::Fr],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let batch = Batch::new(&self.key, &self.circuit, witnesses, r, s).map_err(failed)?;
        let report = turn.run(&batch)?;
        self.finished(batch.proofs().map_err(failed)?, witnesses, &report)
    }

    /// Assignments to be proved by its matrices.
    pub(crate) fn witnesses<'a>(
        &self,
        assignments: &'a [Assignment<E::Fr>],
    ) -> Result<Vec<Witness<'a, E::Fr>>, SynthesisError> {
        for (number, assignment) in assignments.iter().enumerate() {
            equal_constraints(number, &self.circuit, assignment.record.0)?;
        }
        Ok(assignments.iter().map(Assignment::witness).collect())
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

impl<F: NttField> Assignment<F> {
    /// To be proved by matrices.
    pub(crate) fn witness(&self) -> Witness<'_, F> {
        Witness { inputs: &self.inputs, aux: &self.aux, evaluations: None }
    }
}

/// An error unless a circuit has as many constraints as the one that it is proved with.
pub(crate) fn equal_constraints<F: NttField>(
    number: usize,
    circuit: &groth16::Circuit<F>,
    actual: usize,
) -> Result<(), SynthesisError> {
    let what = || format!("constraints of circuit {number}");
    let expected = circuit.constraints();
    let error = || failed(Error::invalid("groth16", what(), expected, actual));
    if expected == actual { Ok(()) } else { Err(error()) }
}

/// Runs a circuit that has an assignment, and takes down both its matrices and that.
pub(crate) fn taken_down<F: NttField>(
    circuit: impl Circuit<F>,
) -> Result<(groth16::Circuit<F>, Assignment<F>), SynthesisError> {
    let mut capture = Capture::<_, Matrices<F>>::of(circuit)?;
    let circuit = capture.record.circuit(capture.inputs.len(), capture.aux.len()).map_err(failed)?;
    let record = Count(circuit.constraints());
    let (inputs, aux) = (std::mem::take(&mut capture.inputs), std::mem::take(&mut capture.aux));
    Ok((circuit, Assignment { inputs, aux, record }))
}

/// The assignments of circuits.
pub(crate) fn assign<F: NttField, C: Circuit<F> + Send>(
    circuits: Vec<C>,
) -> Result<Vec<Assignment<F>>, SynthesisError> {
    circuits.into_par_iter().map(Capture::of).collect()
}

/// Proofs of circuits whose constraints are evaluated on the host while they are run, as bellperson does it: nothing is
/// taken down for later proofs, and nothing of a circuit is presumed of another.
///
/// # Errors
/// As those of [`Prover`], or the circuits differ in the number of their constraints or in the variables that occur in A
/// or in B, by which points of the key are chosen.
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
    let all = evaluated(circuits)?;
    let Some(first) = all.first() else {
        return Err(SynthesisError::IncompatibleLengthVector("no circuits to prove".to_owned()));
    };
    let circuit = first.record.circuit().map_err(failed)?;
    if let Some(number) = all.iter().position(|one| !one.record.has_variables_of(&first.record)) {
        let what = format!("variables in A and B of circuit {number}");
        return Err(failed(Error::invalid("groth16", what, "those of circuit 0", "others")));
    }
    let key = ProvingKeyOnDevice::new(accelerator, parameters(source, &circuit)?).map_err(failed)?;
    let witnesses: Vec<_> = all.iter().map(Evaluated::witness).collect();
    let (proofs, report) = prove(&key, &circuit, &witnesses, r, s, None).map_err(failed)?;
    Ok((proofs.into_iter().map(proof).collect(), report))
}

fn proof<E: Engine + MultiMillerLoop>(proof: groth16::Proof<E>) -> Proof<E> {
    Proof { a: proof.a, b: proof.b, c: proof.c }
}
