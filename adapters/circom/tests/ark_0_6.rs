//! Proves circuits of arkworks 0.6 on the CPU and on the device.

#[path = "common/ark_checks.rs"]
mod checks;
mod common;

use ark_bls12_381_0_6 as ark_bls12_381;
use ark_bn254_0_6 as ark_bn254;
use ark_ec_0_6 as ark_ec;
use ark_ff_0_6 as ark_ff;
use ark_groth16_0_6 as ark_groth16;
use ark_relations_0_6::gr1cs as relations;
use proofwarp::Accelerator;
use proofwarp_circom::Error;
use proofwarp_circom::ark_0_6 as version;
use relations::predicate::PredicateConstraintSystem;
use relations::predicate::polynomial_constraint::SR1CS_PREDICATE_LABEL;
use relations::{ConstraintSynthesizer, ConstraintSystemRef, LinearCombination, SynthesisError};

/// Enforces a·b = c.
fn enforce<F: ark_ff::PrimeField>(
    cs: &ConstraintSystemRef<F>,
    a: LinearCombination<F>,
    b: LinearCombination<F>,
    c: LinearCombination<F>,
) -> Result<(), SynthesisError> {
    cs.enforce_r1cs_constraint(|| a, || b, || c)
}

/// A circuit whose only constraint is of the predicate for squares.
struct Square;

impl<F: ark_ff::PrimeField> ConstraintSynthesizer<F> for Square {
    fn generate_constraints(self, cs: ConstraintSystemRef<F>) -> Result<(), SynthesisError> {
        cs.register_predicate(SR1CS_PREDICATE_LABEL, PredicateConstraintSystem::new_sr1cs_predicate()?)?;
        let x = cs.new_witness_variable(|| Ok(F::ONE))?;
        cs.enforce_sr1cs_constraint(|| x.into(), || x.into())
    }
}

#[test]
fn other_predicates_are_refused() {
    let accelerator = Accelerator::from_env().expect("a backend");
    let parameters = checks::setup::<ark_bn254::Bn254>(1);
    let error = version::ProvingKey::new(&accelerator, &parameters, Square).expect_err("another predicate");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(
        error.to_string().starts_with("circuit: constraints: predicate is not supported: expected R1CS"),
        "{error}"
    );
}
