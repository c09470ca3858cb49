//! Synthesises circuits as `ark-groth16` 0.5 does.

use super::ark_ff::PrimeField;
use super::relations::{
    ConstraintSynthesizer, ConstraintSystem, ConstraintSystemRef, OptimizationGoal, SynthesisError, SynthesisMode,
};
use crate::ark::{Assignment, Constraints, System};
use crate::error::{Error, Result};

/// Returns the constraints of `circuit`, which is not asked for values.
///
/// # Errors
/// - [`Error::Synthesis`]: the circuit gives an error.
pub(super) fn synthesize_constraints<F: PrimeField>(circuit: impl ConstraintSynthesizer<F>) -> Result<System<F>> {
    let cs = synthesize(circuit, SynthesisMode::Setup)?;
    let matrices = cs.to_matrices().ok_or_else(|| error(SynthesisError::MissingCS))?;
    Ok(System {
        inputs: matrices.num_instance_variables,
        witnesses: matrices.num_witness_variables,
        constraints: Constraints { a: matrices.a, b: matrices.b },
    })
}

/// Returns the values of the variables of `circuit`, which is not asked for constraints.
///
/// # Errors
/// - [`Error::Synthesis`]: the circuit gives an error.
pub(super) fn synthesize_assignment<F: PrimeField>(circuit: impl ConstraintSynthesizer<F>) -> Result<Assignment<F>> {
    let cs = synthesize(circuit, SynthesisMode::Prove { construct_matrices: false })?;
    let mut system = cs.borrow_mut().ok_or_else(|| error(SynthesisError::MissingCS))?;
    Ok(Assignment {
        inputs: std::mem::take(&mut system.instance_assignment).into(),
        witnesses: std::mem::take(&mut system.witness_assignment).into(),
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

fn error(error: SynthesisError) -> Error {
    Error::Synthesis { reason: error.to_string() }
}
