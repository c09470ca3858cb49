use ff::Field;
use halo2curves::bn256::Fr;

use super::*;
use crate::expression::program::{FusedOp, REGISTERS};

fn column(column: usize) -> Expression<Fr> {
    Expression::column(column, 0)
}

fn lower_single_group(tree: Expression<Fr>) -> Group {
    let program = lower_vectors(&[tree], 0);
    assert_eq!(program.groups.len(), 1);
    program.groups[0].clone()
}

fn term(challenge: usize, expression: Expression<Fr>) -> Term<Fr> {
    Term { challenge, expression }
}

/// Returns a complete binary tree of depth `levels`, alternately of sums and products. Its leaves are the different
/// columns from `first` on.
fn complete_tree(levels: u32, first: usize) -> Expression<Fr> {
    if levels == 0 {
        return column(first);
    }
    let [a, b] = [0, 1 << (levels - 1)].map(|half| complete_tree(levels - 1, first + half));
    if levels.is_multiple_of(2) { a + b } else { a * b }
}

#[test]
fn a_product_is_computed_once() {
    let product = column(0) * column(1);
    let group = lower_single_group((product.clone() + column(2)) * (column(1) * column(0) - column(3)) + product);
    assert_eq!(group.product_count(), 2);
    assert_eq!(group.instructions.len(), 4);
    let several = lower_vectors(&[column(0) * column(1), column(1) * column(0) + column(2), column(0) * column(1)], 0);
    assert_eq!(several.groups[0].product_count(), 1);
    assert_eq!(several.groups[0].outputs, [0, 1, 2]);
}

#[test]
fn a_product_goes_with_its_sum() {
    let operand = Operand::Query;
    let of = |tree| lower_single_group(tree).instructions;
    for (tree, combination) in [
        (column(0) * column(1) + column(2), FusedOp::Add),
        (column(0) * column(1) - column(2), FusedOp::Subtract),
        (column(2) - column(0) * column(1), FusedOp::SubtractFrom),
    ] {
        let instructions = of(tree);
        let [Instruction { target: Target::Output(0), a, b: Some(b), c: Some((found, c)) }] = instructions[..] else {
            panic!("{instructions:?}");
        };
        assert_eq!((found, [a, b, c].map(|operand| matches!(operand, Operand::Query(_)))), (combination, [true; 3]));
    }
    assert_eq!(of(column(0))[0], Instruction { target: Target::Output(0), a: operand(0), b: None, c: None });
}

#[test]
fn slots_of_known_trees() {
    assert_eq!(lower_single_group(column(0)).slots, 0);
    assert_eq!(lower_single_group(column(0) * column(1)).slots, 0);
    // A chain needs one, whichever way it leans; its last result is the output.
    for left in [true, false] {
        let grow = |tree, number| {
            let sum = |a, b| if number % 2 == 0 { a + b } else { a * b };
            if left { sum(tree, column(number)) } else { sum(column(number), tree) }
        };
        assert_eq!(lower_single_group((1..50).fold(column(0), grow)).slots, 1, "{left}");
    }
    // (a·b + c·d)·(e·f + g·h): one half is held while the other is computed.
    let half = |first| column(first) * column(first + 1) + column(first + 2) * column(first + 3);
    assert_eq!(lower_single_group(half(0) * half(4)).slots, 2);
    // Each level of a complete tree needs one more slot, except for products that are fused with their sums.
    for levels in 1..=12 {
        let group = lower_single_group(complete_tree(levels, 0));
        assert_eq!((group.slots, group.scratch), ((levels - 1).min(REGISTERS), (levels - 1).saturating_sub(REGISTERS)));
        assert_eq!(group.queries.len(), 1 << levels);
    }
}

#[test]
fn what_has_no_slot_goes_to_scratch() {
    // Values that are all needed twice, in the same order.
    let values: Vec<_> = (0..20).map(|i| column(i) * column(i + 1)).collect();
    let sum = values.iter().cloned().fold(column(99), |sum, value| sum * value);
    let again = values.iter().cloned().fold(sum, |sum, value| sum - value);
    let group = lower_single_group(again);
    assert_eq!(group.slots, REGISTERS);
    assert!(group.scratch > 0 && group.scratch + group.slots <= 21, "{}", group.scratch);
    assert_eq!(group.product_count(), 40);
}

#[test]
fn terms_with_a_factor_in_common_are_added_first() {
    let terms: Vec<_> = (0..10).map(|i| term(i, column(0) * (column(i + 1) - Expression::Constant(Fr::ONE)))).collect();
    let program = lower_sum(&terms, 0);
    // One product for each challenge, one by the factor.
    assert_eq!(program.groups[0].product_count(), 11);
    assert_eq!((program.challenges, program.outputs), (10, 1));
    assert_eq!(program.groups[0].slots, 2);
}

#[test]
fn a_group_reads_so_many_columns() {
    let terms: Vec<_> = (0..40).map(|i| term(i, column(i) + column((i + 1) % 40))).collect();
    let program = lower_sum(&terms, 8);
    assert!(program.groups.len() >= 5 && program.groups.iter().all(|group| group.columns.len() <= 8));
    assert_eq!(program.groups.iter().map(Group::product_count).sum::<usize>(), 40);
    assert_eq!(lower_sum(&terms, 0).groups.len(), 1);
}

#[test]
fn values_are_computed_before_rows_are() {
    let beta = || Expression::Challenge(0);
    let tree = (beta() * Fr::from(7)) * (Expression::X * Fr::from(3)) + (beta() * beta() - Expression::Challenge(2));
    let program = lower_vectors(&[tree], 0);
    assert_eq!(program.groups[0].product_count(), 1);
    assert_eq!(program.challenges, 3);
    let challenges = [5, 6, 8].map(Fr::from);
    let values = program.evaluate_row_constants(&challenges);
    assert!(values.contains(&Fr::from(5 * 7 * 3)) && values.contains(&Fr::from(5 * 5 - 8)));
    // A challenge that is not needed is not asked for.
    assert_eq!(lower_vectors(&[Expression::Challenge(9) * Fr::ZERO + beta()], 0).challenges, 1);
}

#[test]
fn nothing_to_do() {
    assert_eq!(lower_sum::<Fr>(&[], 0).groups, []);
    assert_eq!(lower_sum(&[term(0, column(0) - column(0))], 0).groups, []);
    assert_eq!(lower_vectors::<Fr>(&[], 3).groups, []);
    let zero = lower_vectors(&[column(0) * Fr::ZERO], 0);
    assert_eq!((zero.groups[0].instructions.len(), &zero.groups[0].columns[..]), (1, &[][..]));
}

#[test]
fn deep_and_wide() {
    let count = 100_000;
    let tree = (0..count).fold(column(0), |tree, i| tree * column(i % 7) + column(i % 5));
    let group = lower_single_group(tree);
    assert_eq!((group.slots, group.product_count()), (1, count));
    let terms: Vec<_> = (0..20_000).map(|i| term(i, column(i % 50) * column(i / 50))).collect();
    assert!(lower_sum(&terms, 0).groups[0].slots <= 3);
}
