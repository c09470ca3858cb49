//! Arguments that are not fine are refused with what was expected and what came, and nothing is launched.

use std::collections::BTreeSet;

use proofwarp::Error;
use proofwarp::column_ops::Operation;

use crate::tools::{Given, arguments, on_devices, run_on, run_on_cpu};

fn refused(operation: Operation, change: impl Fn(&mut Vec<Given>), items: usize, expected: &str, actual: &str) {
    let (columns, mut given) = arguments(operation, 8, &[1, 1], 3);
    change(&mut given);
    let check = |error: Error| match error {
        Error::Invalid { what, expected: e, actual: a, .. } => {
            let fine = what.starts_with(&format!("{operation}: ")) && e.contains(expected) && a.contains(actual);
            assert!(fine, "{what}: expected {e}, got {a}");
        }
        other => panic!("{other}"),
    };
    check(run_on_cpu(operation, &columns, &given, items).expect_err("refused on the CPU"));
    on_devices(|stream| {
        check(run_on(stream, operation, &columns, &given, items).expect_err("refused"));
        assert_eq!(stream.stats().launches, 0);
    });
}

#[test]
fn kinds_and_numbers_of_arguments() {
    refused(Operation::Sum, |given| given.truncate(5), 0, "6", "5");
    refused(Operation::Sum, |given| given[1] = Given::Number(1), 0, "a column", "a number");
    refused(Operation::Sum, |given| given[5] = Given::Column(0), 0, "a number", "a column");
    refused(Operation::Sum, |given| given[5] = Given::Number(-1), 0, "below 2^32", "-1");
    refused(Operation::Sum, |given| given[5] = Given::Number(1 << 32), 0, "below 2^32", "4294967296");
}

/// Messages name an operation by words, and every operation by other ones.
#[test]
fn names_are_words() {
    assert_eq!(Operation::Sum.to_string(), "sum");
    assert_eq!(Operation::LookupSlots.to_string(), "lookup slots");
    let names: BTreeSet<_> = Operation::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), Operation::ALL.len());
    assert!(
        names.iter().all(|name| name.chars().all(|letter| letter == ' ' || letter.is_ascii_lowercase())),
        "{names:?}"
    );
}

#[test]
fn lengths() {
    refused(Operation::Sum, |given| given[5] = Given::Number(9), 0, "at least 9", "8");
    refused(Operation::Sum, |_| {}, 7, "at least 8", "7");
    refused(Operation::Constant, |_| {}, 9, "at least 9", "8");
}

#[test]
fn what_is_written_is_not_read_elsewhere() {
    refused(Operation::Sum, |given| given[0] = given[1], 0, "not written", "one that is");
    refused(Operation::Constant, |given| given[1] = given[0], 0, "not written", "one that is");
    refused(Operation::PermutationFactors, |given| given[1] = given[0], 0, "not written", "one that is");
}

#[test]
fn numbers_out_of_range() {
    refused(Operation::Periodic, |given| given[2] = Given::Number(4), 0, "1 to 3", "4");
    refused(Operation::Periodic, |given| given[2] = Given::Number(0), 0, "1 to 3", "0");
    refused(Operation::LookupSlots, |given| given[6] = Given::Number(0), 0, "at least 1", "0");
    for step in [[3, 0], [1, 2], [40, 0]] {
        let change = |given: &mut Vec<Given>| {
            given[1] = Given::Number(step[0]);
            given[2] = Given::Number(step[1]);
        };
        refused(Operation::SortStep, change, 0, "whole blocks", "8 rows");
    }
}
