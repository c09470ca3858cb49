//! Holds a circuit with its key, ready to prove.

use bellperson::groth16::{ParameterSource, Proof, VerifyingKey};
use bellperson::{Circuit, SynthesisError};
use pairing::MultiMillerLoop;
use proofwarp::backend::Abort;
use proofwarp::field::NttField;
use proofwarp::groth16::{self, Batch, Engine, PreparedVerifyingKey, ProvingKeyOnDevice, Witness, prove};
use proofwarp::{Accelerator, Error, Report};
use rayon::prelude::*;

use crate::device_lease::DeviceLease;
use crate::evaluations::{EvaluatedAssignment, evaluate_circuits};
use crate::key::parameters;
use crate::matrices::Matrices;
use crate::recorder::{ConstraintCount, SynthesisRecorder};
use crate::to_synthesis_error;
use crate::verify::{check, prepare};

/// Holds a circuit's matrices and its key on the devices. Later proofs need only the assignment of a circuit, which is
/// not asked for the terms of its constraints.
///
/// All proofs use the constraints of the circuit that the prover was made of. These are presumed to be those of the key
/// and of every circuit proved later. Another circuit is detected only by its numbers of constraints and variables,
/// which is an error. Otherwise its proof is one of that assignment for *these* constraints, and does not verify unless
/// the assignment happens to satisfy them. With [`verify(true)`](Self::verify) that is an error too.
#[derive(Debug)]
pub struct Prover<E: Engine + MultiMillerLoop> {
    key: ProvingKeyOnDevice<E>,
    circuit: groth16::Circuit<E::Fr>,
    verifying_key: VerifyingKey<E>,
    verifier: PreparedVerifyingKey<E>,
    verify: bool,
}

/// Holds a circuit's assignment and the number of its constraints.
pub type Assignment<F> = SynthesisRecorder<F, ConstraintCount>;

impl<E: Engine + MultiMillerLoop> Prover<E> {
    /// Creates a prover for `circuit`, which must have an assignment, with the key in the parameters `source`. Also
    /// returns the assignment.
    ///
    /// # Errors
    /// - The error of the circuit, or of the parameters.
    /// - [`SynthesisError::MalformedSrs`]: the parameters have too few points for the circuit.
    /// - [`SynthesisError::IoError`]: the circuit is too large.
    /// - [`SynthesisError::IoError`]: δ is zero, or a point of the parameters is invalid.
    /// - [`SynthesisError::IoError`]: a forced backend failed.
    pub fn new<P: ParameterSource<E>>(
        accelerator: &Accelerator,
        circuit: impl Circuit<E::Fr>,
        source: &P,
    ) -> Result<(Self, Assignment<E::Fr>), SynthesisError> {
        let (circuit, assignment) = record_circuit(circuit)?;
        let key = ProvingKeyOnDevice::new(accelerator, parameters(source, &circuit)?).map_err(to_synthesis_error)?;
        let verifying_key = source.get_vk(circuit.input_count())?.clone();
        Ok((Self::from_parts(key, circuit, verifying_key), assignment))
    }

    /// Creates a prover from `circuit` and its `key` and `verifying_key`. Proofs are not verified.
    pub fn from_parts(
        key: ProvingKeyOnDevice<E>,
        circuit: groth16::Circuit<E::Fr>,
        verifying_key: VerifyingKey<E>,
    ) -> Self {
        let verifier = prepare(&verifying_key);
        Self { key, circuit, verifying_key, verifier, verify: false }
    }

    /// Sets whether each proof is verified before it is returned, which takes a few milliseconds. A proof that does not
    /// verify is then an error, whether the device, the witness or damaged parameters are at fault.
    #[must_use]
    pub fn verify(self, verify: bool) -> Self {
        Self { verify, ..self }
    }

    /// Returns the verifying key.
    pub fn verifying_key(&self) -> &VerifyingKey<E> {
        &self.verifying_key
    }

    /// Returns the verifying key, prepared for pairings.
    pub(crate) fn verifier(&self) -> &PreparedVerifyingKey<E> {
        &self.verifier
    }

    /// Returns the proving key.
    pub fn key(&self) -> &ProvingKeyOnDevice<E> {
        &self.key
    }

    /// Returns the circuit.
    pub fn circuit(&self) -> &groth16::Circuit<E::Fr> {
        &self.circuit
    }

    /// Returns the assignments of `circuits`, in the same order. The circuits are presumed to have the constraints of
    /// the prover's circuit: only the number of their constraints is recorded.
    ///
    /// # Errors
    /// Returns a circuit's error.
    pub fn assign<C>(&self, circuits: Vec<C>) -> Result<Vec<Assignment<E::Fr>>, SynthesisError>
    where
        C: Circuit<E::Fr> + Send,
    {
        record_assignments(circuits)
    }

    /// Returns a proof for each of `assignments`, in the same order. `r` and `s` have one random scalar per assignment.
    ///
    /// # Errors
    /// - [`SynthesisError::IoError`]: an assignment's number of constraints or variables is not the circuit's.
    /// - [`SynthesisError::IoError`]: `r` or `s` does not have one element per assignment.
    /// - [`SynthesisError::IoError`]: the abort hook aborted. It holds [`Error::Aborted`].
    /// - [`SynthesisError::IoError`]: a forced backend failed.
    /// - [`SynthesisError::IoError`]: a proof does not verify, and [`verify`](Self::verify) is set.
    pub fn prove(
        &self,
        assignments: &[Assignment<E::Fr>],
        r: &[E::Fr],
        s: &[E::Fr],
        abort: Abort<'_>,
    ) -> Result<(Vec<Proof<E>>, Report), SynthesisError> {
        let witnesses = self.witnesses(assignments)?;
        let (proofs, report) = prove(&self.key, &self.circuit, &witnesses, r, s, abort).map_err(to_synthesis_error)?;
        Ok((self.convert_and_verify(proofs, &witnesses, &report)?, report))
    }

    /// Returns the proofs of `witnesses`, made on the devices of `turn`, which other processes may use in between.
    pub(crate) fn prove_with_lease(
        &self,
        turn: &mut DeviceLease,
        witnesses: &[Witness<'_, E::Fr>],
        r: &[E::Fr],
        s: &[E::Fr],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let batch = Batch::new(&self.key, &self.circuit, witnesses, r, s).map_err(to_synthesis_error)?;
        let report = turn.run(&batch)?;
        self.convert_and_verify(batch.proofs().map_err(to_synthesis_error)?, witnesses, &report)
    }

    /// Converts `assignments` to witnesses without evaluations, which the prover's matrices give. Checks the number of
    /// constraints of each.
    pub(crate) fn witnesses<'a>(
        &self,
        assignments: &'a [Assignment<E::Fr>],
    ) -> Result<Vec<Witness<'a, E::Fr>>, SynthesisError> {
        for (number, assignment) in assignments.iter().enumerate() {
            equal_constraints(number, &self.circuit, assignment.record.0)?;
        }
        Ok(assignments.iter().map(Assignment::witness).collect())
    }

    /// Converts `proofs` to bellperson's type. Verifies them too if [`Self::verify`] is set.
    fn convert_and_verify(
        &self,
        proofs: Vec<groth16::Proof<E>>,
        witnesses: &[Witness<'_, E::Fr>],
        report: &Report,
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let proofs: Vec<_> = proofs.into_iter().map(to_bellperson_proof).collect();
        if self.verify {
            check(&self.verifier, &proofs, witnesses, report.backend)?;
        }
        Ok(proofs)
    }
}

impl<F: NttField> Assignment<F> {
    /// Borrows the assignment as a witness without evaluations, which the matrices give.
    pub(crate) fn witness(&self) -> Witness<'_, F> {
        Witness { inputs: &self.inputs, aux: (&self.aux).into(), evaluations: None }
    }
}

/// Checks that the number of constraints `actual` is that of `circuit`. `number` is the index of the checked circuit in
/// the batch, for the error.
pub(crate) fn equal_constraints<F: NttField>(
    number: usize,
    circuit: &groth16::Circuit<F>,
    actual: usize,
) -> Result<(), SynthesisError> {
    let what = || format!("constraints of circuit {number}");
    let expected = circuit.constraint_count();
    let error = || to_synthesis_error(Error::invalid("groth16", what(), expected, actual));
    if expected == actual { Ok(()) } else { Err(error()) }
}

/// Synthesises `circuit`, which must have an assignment, and returns its matrices and its assignment.
pub(crate) fn record_circuit<F: NttField>(
    circuit: impl Circuit<F>,
) -> Result<(groth16::Circuit<F>, Assignment<F>), SynthesisError> {
    let mut capture = SynthesisRecorder::<_, Matrices<F>>::from_circuit(circuit)?;
    let circuit = capture.record.circuit(capture.inputs.len(), capture.aux.len()).map_err(to_synthesis_error)?;
    let record = ConstraintCount(circuit.constraint_count());
    let (inputs, aux) = (std::mem::take(&mut capture.inputs), std::mem::take(&mut capture.aux));
    Ok((circuit, Assignment { inputs, aux, record }))
}

/// Synthesises `circuits` in parallel, and returns their assignments in the same order.
pub(crate) fn record_assignments<F: NttField, C: Circuit<F> + Send>(
    circuits: Vec<C>,
) -> Result<Vec<Assignment<F>>, SynthesisError> {
    circuits.into_par_iter().map(SynthesisRecorder::from_circuit).collect()
}

/// Proves `circuits` with the random scalars `r` and `s`. The host evaluates the constraints during synthesis, as
/// bellperson does. Nothing is recorded for later proofs, and no circuit is presumed to have another's constraints.
///
/// # Errors
/// - The errors of [`Prover::new`].
/// - [`SynthesisError::IncompatibleLengthVector`]: there is no circuit.
/// - [`SynthesisError::IoError`]: `r` or `s` does not have one element per circuit.
/// - [`SynthesisError::IoError`]: the circuits differ in their numbers of constraints or variables.
/// - [`SynthesisError::IoError`]: the circuits differ in the variables in A or B, which select the key's points.
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
    let all = evaluate_circuits(circuits)?;
    let Some(first) = all.first() else {
        return Err(SynthesisError::IncompatibleLengthVector("no circuits to prove".to_owned()));
    };
    let circuit = first.record.circuit().map_err(to_synthesis_error)?;
    if let Some(number) = all.iter().position(|one| !one.record.has_variables_of(&first.record)) {
        let what = format!("variables in A and B of circuit {number}");
        return Err(to_synthesis_error(Error::invalid("groth16", what, "those of circuit 0", "others")));
    }
    let key = ProvingKeyOnDevice::new(accelerator, parameters(source, &circuit)?).map_err(to_synthesis_error)?;
    let witnesses: Vec<_> = all.iter().map(EvaluatedAssignment::witness).collect();
    let (proofs, report) = prove(&key, &circuit, &witnesses, r, s, None).map_err(to_synthesis_error)?;
    Ok((proofs.into_iter().map(to_bellperson_proof).collect(), report))
}

fn to_bellperson_proof<E: Engine + MultiMillerLoop>(proof: groth16::Proof<E>) -> Proof<E> {
    Proof { a: proof.a, b: proof.b, c: proof.c }
}
