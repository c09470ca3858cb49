//! `columns_…` and `expression_…`.

use halo2curves::bn256::Fr;
use proofwarp::column_ops::Operation;
use proofwarp::expression::Expression;
use proofwarp::field::NttField;

use crate::column_tools::{Given, agree, arguments, column as values, run_on_cpu};
use crate::every_field;
use crate::expression_tools::{Inputs, column};

#[test]
fn operations() {
    let rows: u8 = 150;
    for operation in Operation::ALL.iter().copied().filter(|operation| *operation != Operation::SortStep) {
        let numbers: &[i64] = match operation {
            Operation::Extend => &[rows.into()],
            Operation::Periodic => &[3],
            Operation::LookupSlots => &[7],
            _ => &[1, -1],
        };
        let (columns, given) = arguments(operation, rows.into(), numbers, 1);
        let expected = run_on_cpu(operation, &columns, &given, rows.into()).expect("on the CPU");
        agree(operation, &columns, &given, rows.into(), &expected);
    }
}

#[test]
fn steps_of_a_sort() {
    let columns: [Vec<Fr>; 1] = [values(128, 2)];
    for (round, step) in (0..7).flat_map(|round| (0..=round).map(move |step| (round, step))) {
        let given = [Given::Column(0), Given::Number(round), Given::Number(step)];
        let expected = run_on_cpu(Operation::SortStep, &columns, &given, 64).expect("on the CPU");
        agree(Operation::SortStep, &columns, &given, 64, &expected);
    }
}

/// As vectors and as a sum, group by group.
fn expressions<F: NttField>() {
    let trees = [
        column::<F>(0, 1) * column(1, -1) - column(2, 0),
        column(3, 0) * (column(4, 2) + Expression::X),
        column(3, 0) * (column(5, 0) - Expression::Challenge(0)),
    ];
    Inputs::random(6, 3, 5, 1).agrees(&trees);
}
every_field!(expressions);
