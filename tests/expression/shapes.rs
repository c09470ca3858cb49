//! Shapes at the edges of what programs do.

use halo2curves::bn256::Fr;
use proofwarp::expression::{Expression, Program, REGISTERS, Term};
use proofwarp::field::NttField;

use crate::common::{self, accelerators_and_cpu};
use crate::tools::{Inputs, column};

fn constant<F: NttField>(value: u64) -> Expression<F> {
    Expression::Constant(F::from(value))
}

fn small<F: NttField>() {
    for (log_n, columns) in [(0, 3), (1, 3), (4, 3), (7, 4), (9, 4)] {
        let inputs = Inputs::<F>::random(columns, 2, log_n, u64::from(log_n));
        let beta = || Expression::Challenge(1);
        inputs.agrees(&[
            column(0, 0),
            column(1, 3) * column(2, -2) - column(0, 1),
            constant(5),
            constant(0),
            column(0, 0) - column(0, 0),
            column(2, 0) * F::ZERO,
            -column(2, 0),
            -beta(),
            beta() * F::from(3) + Expression::Challenge(0),
            Expression::X,
            (Expression::X + beta()) * -Expression::X * column(1, -1),
            column(0, 0) * F::from(2) - column(1, 0) * -F::from(2) + column(2, 0) * -F::ONE,
            column(0, 0) * column(1, 0) + column(2, 0),
            column(0, 0) * column(1, 0) - column(2, 0),
            column(2, 0) - column(0, 0) * column(1, 0),
            column(0, 0) * column(0, 0),
        ]);
    }
}

/// Rotations around the end, several times, and by the largest numbers.
fn rotations<F: NttField>() {
    for log_n in [0, 2, 5] {
        let inputs = Inputs::<F>::random(2, 1, log_n, 20);
        let far = [1, -1, 3, -3, 31, 32, 33, -31, -32, -33, 1000, -1000, i32::MAX, i32::MIN];
        let trees = far.map(|rotation| column(0, rotation) * column(1, -(rotation / 2)));
        inputs.agrees(&trees);
    }
}

fn deep_and_wide<F: NttField>() {
    let inputs = Inputs::<F>::random(40, 5, 8, 21);
    let deep = (0..3000).fold(column(0, 0), |tree, i| match i % 3 {
        0 => tree * column(i % 7, 1),
        1 => column(i % 11, 0) - tree,
        _ => -(tree + Expression::X),
    });
    let wide =
        (0..2000usize).map(|i| column(i % 40, [0, 1, 2, 3, 4][i % 5]) * column(i * 7 % 40, 0)).reduce(|a, b| a + b);
    inputs.agrees(&[deep, wide.expect("a sum")]);
}

/// More values alive than there are slots.
fn spills<F: NttField>() {
    let values: Vec<Expression<F>> =
        (0..30).zip(0..).map(|(i, rotation)| column(i, 0) * column(i + 1, rotation)).collect();
    let sum = values.iter().cloned().fold(column(31, 0), |sum, value| sum * value);
    let again = values.iter().cloned().fold(sum, |sum, value| sum - value * Expression::X);
    let program = Program::lower_vectors(std::slice::from_ref(&again), 0);
    let group = &program.groups()[0];
    assert!(group.slot_count() == REGISTERS && group.scratch_element_count() > 10, "{}", program.explain());
    assert_eq!(program.scratch_bytes(5), u64::from(group.scratch_element_count()) * 64 * 32);
    assert_eq!(program.scratch_bytes(25), u64::from(group.scratch_element_count()) << 25);
    for log_n in [2, 8] {
        Inputs::<F>::random(32, 3, log_n, 22).agrees(&[again.clone(), values[3].clone()]);
    }
}

/// Constraints as halo2 has them: factors in common, y's powers, an arithmetic gate, permutations and lookups.
fn constraints<F: NttField>() {
    let inputs = Inputs::<F>::random(20, 12, 7, 23);
    let [l0, last, active, q] = [0, 1, 2, 3].map(|number| column::<F>(number, 0));
    let (beta, gamma) = (Expression::Challenge(0), Expression::Challenge(1));
    let z = |rotation| column::<F>(4, rotation);
    let side = |value: usize, by: Expression<F>| column::<F>(value, 0) + beta.clone() * by + gamma.clone();
    let left = (0..4).fold(z(1), |left, i| left * side(5 + i, column(10 + i, 0)));
    let right = (0..4).fold(z(0), |right, i| right * side(5 + i, Expression::X * F::from(7u64.pow(i as u32))));
    let trees = [
        q.clone() * (column(5, 0) + column(6, 0) * column(7, 0) - column(5, 3)),
        q * (column(5, 0) * (column(5, 0) - constant(1))),
        l0.clone() * (constant(1) - z(0)),
        last * (z(0) * z(0) - z(0)),
        active.clone() * (left - right),
        active * (column(8, 0) - column(9, 0)) * (column(8, 0) - column(8, -1)),
        l0 * (column(8, 0) - column(9, 0)),
    ];
    inputs.agrees(&trees);
}

/// Programs that do nothing leave things as they were.
#[test]
fn nothing() {
    let inputs = Inputs::<Fr>::random(1, 1, 3, 24);
    for accelerator in accelerators_and_cpu() {
        let before = inputs.before(1);
        let zero = Term { challenge: 0, expression: column(0, 0) - column(0, 0) };
        for terms in [&[][..], &[zero]] {
            assert_eq!(inputs.run(&accelerator, &Program::lower_sum(terms, 0), &before), before);
        }
        assert_eq!(inputs.run(&accelerator, &Program::lower_vectors(&[], 0), &[]), Vec::<Vec<Fr>>::new());
    }
}

/// Constants and challenges alone need no columns.
#[test]
fn no_columns() {
    let inputs = Inputs::<Fr>::random(0, 2, 6, 25);
    inputs.agrees(&[constant(3), Expression::Challenge(1), Expression::X * Expression::Challenge(0)]);
    let inputs = Inputs::<Fr>::random(0, 0, 0, 26);
    inputs.agrees(&[constant(3), Expression::X]);
}

common::every_curve! {
    small;
    small_bls12_377: proofwarp::curve::bls12_377::Fr;
    small_bls12_381: blstrs::Scalar;
    small_bn254: Fr;
    small_pasta_fp: pasta_curves::Fp;
    small_pasta_fq: pasta_curves::Fq;
}
common::every_curve! {
    rotations;
    rotations_bn254: Fr;
}
common::every_curve! {
    deep_and_wide;
    deep_and_wide_bls12_381: blstrs::Scalar;
    deep_and_wide_bn254: Fr;
}
common::every_curve! {
    spills;
    spills_bls12_377: proofwarp::curve::bls12_377::Fr;
    spills_bn254: Fr;
    spills_pasta_fp: pasta_curves::Fp;
}
common::every_curve! {
    constraints;
    constraints_bls12_381: blstrs::Scalar;
    constraints_bn254: Fr;
}

/// Checks the counts of an explanation, and that it adds up its groups.
#[test]
fn an_explanation_counts_a_rows_work() {
    let trees = [column::<Fr>(0, 0) * column(1, 0) + column(0, 1), column(2, 0) * Expression::X];
    let explained = Program::lower_vectors(&trees, 0).explain();
    let total = explained.total();
    assert_eq!((explained.field, explained.element, explained.outputs, explained.challenges), ("bn254_fr", 32, 2, 0));
    assert_eq!((total.columns, total.queries, total.reads), (3, 4, 4));
    // Two of the expressions, and one that computes X.
    assert_eq!(total.products, 3);
    let terms = trees.into_iter().enumerate().map(|(challenge, expression)| Term { challenge, expression });
    let groups = Program::lower_sum(&terms.collect::<Vec<_>>(), 2).explain();
    assert_eq!((groups.outputs, groups.groups.len()), (1, 2));
    assert_eq!(groups.total().instructions, groups.groups.iter().map(|group| group.instructions).sum::<usize>());
    assert_eq!(groups.total().slots, groups.groups.iter().map(|group| group.slots).max().unwrap_or(0));
    let text = groups.to_string();
    let lines: Vec<_> =
        text.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[0], "expression bn254_fr,");
    assert!(lines[2] == "group 0" && lines[3] == "group 1" && lines[4].starts_with("all "), "{text}");
}
