//! Proves circuits of arkworks 0.5 on the CPU and on the device.

#[path = "common/ark_checks.rs"]
mod checks;
mod common;

use ark_bls12_381_0_5 as ark_bls12_381;
use ark_bn254_0_5 as ark_bn254;
use ark_ec_0_5 as ark_ec;
use ark_ff_0_5 as ark_ff;
use ark_groth16_0_5 as ark_groth16;
use ark_relations_0_5::r1cs as relations;
use proofwarp_circom::ark_0_5 as version;
use relations::{ConstraintSystemRef, LinearCombination, SynthesisError};

/// Enforces a·b = c.
fn enforce<F: ark_ff::PrimeField>(
    cs: &ConstraintSystemRef<F>,
    a: LinearCombination<F>,
    b: LinearCombination<F>,
    c: LinearCombination<F>,
) -> Result<(), SynthesisError> {
    cs.enforce_constraint(a, b, c)
}
