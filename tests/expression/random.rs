//! Random expressions.

use halo2curves::bn256::Fr;
use proofwarp::expression::Expression;
use proofwarp::field::NttField;
use proptest::prelude::*;

use crate::tools::{Inputs, column};

const COLUMNS: usize = 9;
const CHALLENGES: usize = 4;

fn leaf<F: NttField>() -> impl Strategy<Value = Expression<F>> {
    prop_oneof![
        6 => (0..COLUMNS, -3..4i32).prop_map(|(number, rotation)| column(number, rotation)),
        1 => (0..CHALLENGES).prop_map(Expression::Challenge),
        1 => Just(Expression::X),
        1 => (0..4u64).prop_map(|value| Expression::Constant(F::from(value))),
        1 => any::<u64>().prop_map(|value| Expression::Constant(-F::from(value))),
    ]
}

/// Parts come again now and then, since leaves are few.
fn tree<F: NttField>() -> impl Strategy<Value = Expression<F>> {
    leaf().prop_recursive(8, 200, 2, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a + b),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a - b),
            4 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a * b),
            1 => inner.clone().prop_map(|a| -a),
            1 => inner.clone().prop_map(|a| a.clone() * a),
            1 => (inner, -3..4i64).prop_map(|(a, factor)| {
                let size = F::from(factor.unsigned_abs());
                a * if factor < 0 { -size } else { size }
            }),
        ]
    })
}

fn any_expressions<F: NttField>(cases: u32) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let trees = prop::collection::vec(tree::<F>(), 1..5);
    proptest!(config, |(trees in trees, log_n in 0..7u32, seed in any::<u64>())| {
        Inputs::random(COLUMNS, CHALLENGES, log_n, seed).agrees(&trees);
    });
}

#[test]
fn any_expressions_bn254() {
    any_expressions::<Fr>(200);
}

#[test]
fn any_expressions_bls12_381() {
    any_expressions::<blstrs::Scalar>(60);
}

#[test]
fn any_expressions_pasta() {
    any_expressions::<pasta_curves::Fq>(60);
}
