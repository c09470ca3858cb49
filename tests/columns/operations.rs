//! Every operation at sizes around those of a group, with rotations of both signs and results in place.

use halo2curves::bn256::Fr;
use proofwarp::column_ops::{Operation, Parameter};

use crate::reference::{Reference, number};
use crate::tools::{Given, agree, arguments, column, on_devices, run_on, run_on_cpu};

/// Powers of two, some not, and less and more than a group has work-items.
const SIZES: [usize; 14] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1, 3, 129, 1000];

/// Numbers for an operation's rotations and other numbers.
fn numbers(operation: Operation, rows: usize) -> Vec<Vec<i64>> {
    let n = rows as i64;
    match operation {
        Operation::Extend => vec![vec![n], vec![n / 2], vec![0], vec![n + 5]],
        Operation::Periodic => vec![vec![3], vec![1], vec![2]],
        Operation::LookupSlots => vec![vec![1], vec![2], vec![7], vec![n], vec![i64::from(u32::MAX)]],
        _ => vec![vec![0, 0], vec![1, -1], vec![-3, 5], vec![4 * n + 1, -n], vec![n - 1, i64::from(i32::MIN)]],
    }
}

fn is_by_reference(operation: Operation) -> bool {
    operation != Operation::SortStep
}

#[test]
fn every_operation_at_every_size() {
    for operation in Operation::ALL.iter().copied().filter(|operation| is_by_reference(*operation)) {
        for rows in SIZES {
            for (seed, numbers) in numbers(operation, rows).iter().enumerate() {
                let (columns, given) = arguments(operation, rows, numbers, 100 * seed as u64);
                let expected = Reference { columns: &columns, given: &given, rows }.after(operation);
                agree(operation, &columns, &given, 0, &expected);
            }
        }
    }
}

/// Groups of 128 as the fork asks for them, none where there are fewer rows; longer columns keep what is behind.
#[test]
fn so_many_work_items() {
    for (items, length) in [(128, 128), (128, 200), (256, 1024)] {
        let (columns, given) = arguments(Operation::Constant, length, &[], 1);
        let expected = Reference { columns: &columns, given: &given, rows: items }.after(Operation::Constant);
        agree(Operation::Constant, &columns, &given, items, &expected);
    }
    let (columns, given) = arguments(Operation::Sum, 256, &[3, -3], 1);
    let expected = Reference { columns: &columns, given: &given, rows: 256 }.after(Operation::Sum);
    agree(Operation::Sum, &columns, &given, 256, &expected);
    agree(Operation::Sum, &columns, &given, 512, &expected);
}

/// The result is a column that is read, at its own row; all columns that are read are one, too.
#[test]
fn results_in_place() {
    for operation in Operation::ALL.iter().copied() {
        let [kinds, rows] = [operation.parameters().len(), 200];
        let first = operation.parameters()[0];
        if first != Parameter::Written || kinds < 4 {
            continue;
        }
        for target in [1, 2] {
            let (columns, mut given) = arguments(operation, rows, &[0, 0], 7);
            let Given::Column(to) = given[target] else { continue };
            if columns[to].len() != rows {
                continue;
            }
            given[0] = Given::Column(to);
            let expected = Reference { columns: &columns, given: &given, rows }.after(operation);
            agree(operation, &columns, &given, 0, &expected);
            // Both factors and the result are one column.
            let given: Vec<_> = given
                .iter()
                .map(|argument| match *argument {
                    Given::Column(number) if columns[number].len() == rows => Given::Column(to),
                    other => other,
                })
                .collect();
            let expected = Reference { columns: &columns, given: &given, rows }.after(operation);
            agree(operation, &columns, &given, 0, &expected);
        }
    }
}

/// One column rotated by itself, the other one not, which is the result.
#[test]
fn one_in_place_and_one_rotated() {
    for rows in [2, 128, 1000] {
        let columns = vec![column(rows, 1), column(rows, 2)];
        let rows_given = Given::Number(rows as i64);
        let given =
            [Given::Column(0), Given::Column(0), Given::Column(1), Given::Number(0), Given::Number(-1), rows_given];
        let expected = Reference { columns: &columns, given: &given, rows }.after(Operation::Product);
        agree(Operation::Product, &columns, &given, 0, &expected);
    }
}

fn sorted(values: &[Fr]) -> Vec<Fr> {
    let mut sorted = values.to_vec();
    sorted.sort_by_key(number);
    sorted
}

/// All steps of all rounds sort.
#[test]
fn steps_sort() {
    for log_n in 1..=10 {
        let rows = 1usize << log_n;
        let values = column(rows, u64::from(log_n as u32));
        let steps = (0..log_n as i64).flat_map(|round| (0..=round).map(move |step| [round, step]));
        let given = |[round, step]: [i64; 2]| [Given::Column(0), Given::Number(round), Given::Number(step)];
        let mut host = vec![values.clone()];
        steps.clone().for_each(|step| {
            host = run_on_cpu(Operation::SortStep, &host, &given(step), rows / 2).expect("on the CPU");
        });
        assert!(host[0] == sorted(&values), "2^{log_n} on the CPU");
        on_devices(|stream| {
            let mut there = vec![values.clone()];
            steps.clone().for_each(|step| {
                there = run_on(stream, Operation::SortStep, &there, &given(step), 0).expect("on the device");
            });
            assert!(there[0] == sorted(&values), "2^{log_n} on {:?}", stream.device());
        });
    }
}
