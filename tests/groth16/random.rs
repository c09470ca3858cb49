//! Constraint systems drawn at random.

use std::collections::HashSet;

use bellperson::groth16::{generate_random_parameters, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::matrix::Csr;
use proofwarp_bellperson::Matrices;
use proofwarp_bellperson::recorder::SynthesisRecorder;
use proptest::prelude::*;

use crate::circuits::stock_on_cpu;
use crate::common::rng;
use crate::equality::equal;
use crate::random_r1cs::Recipe;

/// Most systems are small, since it is their rows that differ; some take more than one workgroup.
fn recipes() -> impl Strategy<Value = Recipe> {
    let constraints = prop_oneof![3 => 0..12_usize, 2 => 12..80_usize, 1 => 80..300_usize];
    let parts = (0..6_usize, 0..12_usize, constraints, any::<[bool; 2]>(), any::<u64>());
    parts.prop_map(|(inputs, secrets, constraints, [constants, inputs_in_rows], seed)| Recipe {
        inputs,
        secrets,
        constraints,
        constants,
        inputs_in_rows,
        seed,
    })
}

/// Bellperson's proofs verify, and those of every backend are the same.
fn equals_stock(recipe: Recipe, count: usize) {
    stock_on_cpu();
    let circuits = recipe.circuits(count, true);
    let key = generate_random_parameters::<Bls12, _, _>(circuits[0].clone(), &mut rng(recipe.seed)).expect("key");
    let mut rng = rng(recipe.seed + 1);
    let [r, s] = [(); 2].map(|()| (0..count).map(|_| Scalar::random(&mut rng)).collect::<Vec<_>>());
    let prepared = prepare_verifying_key(&key.vk);
    let proofs = equal(&circuits, &key, &r, &s, &format!("{recipe:?}, {count}"));
    for (proof, circuit) in proofs.iter().zip(&circuits) {
        assert!(verify_proof(&prepared, proof, &circuit.inputs()).expect("inputs"), "{recipe:?}");
    }
}

#[test]
fn random_systems() {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 12 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(recipe in recipes(), count in prop::sample::select(vec![1, 1, 2, 3]))| equals_stock(recipe, count));
    for constraints in [40, 200] {
        let recipe = Recipe { inputs: 3, secrets: 5, constraints, constants: true, inputs_in_rows: true, seed: 10 };
        equals_stock(recipe, 10);
    }
}

/// No auxiliary variables, no inputs but the constant one, and nothing at all.
#[test]
fn systems_without() {
    let recipe = Recipe { inputs: 0, secrets: 0, constraints: 0, constants: true, inputs_in_rows: true, seed: 1 };
    for (inputs, secrets, constraints) in [(0, 0, 0), (3, 0, 0), (0, 4, 0), (0, 4, 9), (5, 0, 6)] {
        for (constants, inputs_in_rows) in [(true, true), (false, true), (true, false), (false, false)] {
            equals_stock(Recipe { inputs, secrets, constraints, constants, inputs_in_rows, ..recipe }, 2);
        }
    }
}

/// What the generator is for is there.
#[test]
fn variables_of_every_kind() {
    let recipe = Recipe { inputs: 4, secrets: 9, constraints: 150, constants: true, inputs_in_rows: true, seed: 5 };
    let capture: SynthesisRecorder<Scalar, Matrices<Scalar>> =
        SynthesisRecorder::from_circuit(recipe.circuits(1, false).remove(0)).expect("matrices");
    let (inputs, aux) = (capture.inputs.len(), capture.aux.len());
    let circuit = capture.record.circuit(inputs, aux).expect("circuit");
    let [a, b, _] = circuit.matrices() else { panic!("three matrices") };
    let occurs = |column: usize, matrix: &Csr<Scalar>| {
        (0..matrix.rows()).any(|row| matrix.row(row).any(|(other, _)| other == column))
    };
    let kinds: HashSet<_> = (inputs..inputs + aux).map(|column| (occurs(column, a), occurs(column, b))).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    let empty = |row: usize| circuit.matrices().iter().all(|matrix| matrix.row(row).count() == 0);
    assert!((0..circuit.constraint_count()).any(empty));
    let of_aux = |row: usize| a.row(row).count() > 0 && a.row(row).all(|(column, _)| column >= inputs);
    assert!((0..circuit.constraint_count()).any(of_aux));
}
