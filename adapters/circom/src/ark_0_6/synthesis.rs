//! Synthesises circuits as `ark-groth16` 0.6 does.

use super::ark_ff::PrimeField;
use super::relations::{
    ConstraintSynthesizer, ConstraintSystem, ConstraintSystemRef, OptimizationGoal, R1CS_PREDICATE_LABEL,
    SynthesisError, SynthesisMode,
};
use crate::ark::{Assignment, CIRCUIT, Constraints, System};
use crate::error::{Error, FileSection, Result};

/// Synthesis for values alone, as `ark-groth16` asks for them, but without constraints.
const ASSIGN: SynthesisMode = SynthesisMode::Prove { construct_matrices: false, generate_lc_assignments: false };

/// Returns the constraints of `circuit`, which is not asked for values.
///
/// # Errors
/// - [`Error::Synthesis`]: the circuit gives an error.
/// - [`Error::Unsupported`]: the circuit has constraints of another predicate than R1CS.
pub(super) fn synthesize_constraints<F: PrimeField>(circuit: impl ConstraintSynthesizer<F>) -> Result<System<F>> {
    let cs = synthesize(circuit, SynthesisMode::Setup)?;
    expect_r1cs(&cs)?;
    let matrices = cs.to_matrices().map_err(error)?.remove(R1CS_PREDICATE_LABEL);
    let mut matrices = matrices.unwrap_or_default().into_iter();
    let mut next = || matrices.next().unwrap_or_default();
    Ok(System {
        inputs: cs.num_instance_variables(),
        witnesses: cs.num_witness_variables(),
        constraints: Constraints { a: next(), b: next() },
    })
}

/// Returns the values of the variables of `circuit`, which is not asked for constraints.
///
/// # Errors
/// - [`Error::Synthesis`]: the circuit gives an error.
pub(super) fn synthesize_assignment<F: PrimeField>(circuit: impl ConstraintSynthesizer<F>) -> Result<Assignment<F>> {
    let cs = synthesize(circuit, ASSIGN)?;
    let mut system = cs.borrow_mut().ok_or_else(|| error(SynthesisError::MissingCS))?;
    Ok(Assignment {
        inputs: std::mem::take(&mut system.assignments.instance_assignment).into(),
        witnesses: std::mem::take(&mut system.assignments.witness_assignment).into(),
    })
}

fn synthesize<F: PrimeField>(
    circuit: impl ConstraintSynthesizer<F>,
    mode: SynthesisMode,
) -> Result<ConstraintSystemRef<F>> {
    let cs = ConstraintSystem::new_ref();
    cs.set_optimization_goal(OptimizationGoal::Constraints);
    cs.set_mode(mode);
    circuit.generate_constraints(cs.clone()).map_err(error)?;
    cs.finalize();
    Ok(cs)
}

/// Checks that R1CS is the only predicate with constraints.
fn expect_r1cs<F: PrimeField>(cs: &ConstraintSystemRef<F>) -> Result<()> {
    let counts = cs.get_all_predicates_num_constraints();
    match counts.iter().find(|(label, count)| **count > 0 && *label != R1CS_PREDICATE_LABEL) {
        None => Ok(()),
        Some((label, _)) => Err(FileSection { file: CIRCUIT, section: "constraints" }.unsupported(
            "predicate",
            R1CS_PREDICATE_LABEL,
            label,
        )),
    }
}

fn error(error: SynthesisError) -> Error {
    Error::Synthesis { reason: error.to_string() }
}
