//! Tests the numbers of memory estimates, and circuits that are refused. `tests/mutants.py` found them untested.

use halo2curves::bn256::Fr;

use super::blinding::uniform_on_cpu;
use super::circuit::Circuit;
use super::column_places_and_checks::StridedColumns;
use super::columns_layout_and_key::{ColumnId, ColumnLayout};
use super::engine::MemoryEstimate;
use crate::Accelerator;
use crate::expression::Expression;
use crate::field::DeviceVector;

/// Returns a circuit of 2^20 rows with all its columns in the permutation: `fixed` fixed columns and an advice column.
fn sample_circuit(degree: usize, fixed: usize) -> Circuit<Fr> {
    let permuted = fixed + 1;
    let layout =
        ColumnLayout { fixed, permuted, advice: 1, instances: 0, sets: permuted.div_ceil(degree - 2), lookups: 0 };
    let fixed = (0..fixed).map(ColumnId::Fixed);
    Circuit {
        log_n: 20,
        degree,
        blinding: 5,
        layout,
        advice_phases: vec![0],
        challenge_phases: Vec::new(),
        gates: vec![Expression::column(layout.column_number(ColumnId::Advice(0)), 0)],
        lookups: Vec::new(),
        permutation: fixed.chain([ColumnId::Advice(0)]).collect(),
        advice_queries: Vec::new(),
        fixed_queries: Vec::new(),
    }
}

/// Checks the peaks for eight circuits of 21 permutation sets each. Each grand product takes three columns beside the
/// eight advice columns, and 6 columns are tables of two cosets and the subgroup.
#[test]
fn products_are_of_all_circuits() {
    let memory = MemoryEstimate::for_circuit(&sample_circuit(3, 20), 8);
    let products = memory.peaks.iter().find(|peak| peak.step == "grand products").expect("a step");
    assert_eq!((products.columns, products.commitments), (8 + 3 * 8 * 21 + 6, 0));
}

/// Checks the estimate for a permutation set of five columns. Its constraint reads the columns, as many σ, the grand
/// product and the active rows. Each takes three columns of memory on a coset, and one more holds the sum.
#[test]
fn the_widest_constraint_is_a_sets() {
    assert_eq!(MemoryEstimate::for_circuit(&sample_circuit(7, 9), 1).least_beside, 3 * (2 * 5 + 2) + 1);
}

/// Checks that a key stays on the device only if a proof's own columns and those of its smallest steps still fit. All
/// of them may take 7/8 of the free memory.
#[test]
fn a_key_stays_where_all_columns_fit() {
    let memory = MemoryEstimate::for_circuit(&sample_circuit(7, 9), 1);
    let columns = memory.key + memory.own + memory.least_beside;
    let free = memory.column * columns as u64 * 8 / 7 + 1;
    assert!(memory.has_room_for_key(free) && !memory.has_room_for_key(free - memory.column));
}

/// Checks that a circuit is refused if it has too few rows for blinding, or if its rows exceed the address space.
#[test]
fn rows_are_bounded_on_both_sides() {
    let rows = |log_n| Circuit { log_n, ..sample_circuit(5, 4) }.check().map_err(|error| error.to_string());
    assert_eq!((rows(3), rows(20)), (Ok(()), Ok(())));
    for log_n in [0, 2, 64, u32::MAX] {
        let error = rows(log_n).expect_err("too few, or too many");
        assert!(error.contains("rows"), "2^{log_n}: {error}");
    }
}

/// Checks that [`StridedColumns::columns`] returns each column at its start, from the first to the last.
#[test]
fn a_place_has_all_its_columns() {
    let accelerator = Accelerator::automatic().expect("settings are right");
    let Some(device) = accelerator.devices().first() else { return println!("skipped: no device") };
    let mut stream = device.stream().expect("a stream");
    let vector = DeviceVector::<Fr>::allocate(&mut stream, 64).expect("memory");
    let starts = |place: StridedColumns| place.columns(&vector).iter().map(|column| column.first).collect::<Vec<_>>();
    assert_eq!(starts(StridedColumns::packed(8, 3)), [0, 8, 16]);
    assert_eq!(starts(StridedColumns { first: 5, stride: 20, count: 2 }), [5, 25]);
    assert!(starts(StridedColumns::packed(8, 0)).is_empty());
}

/// Checks that every 64 random bytes make an element, and that other lengths are refused.
#[test]
fn random_bytes_are_whole_elements() {
    assert_eq!(uniform_on_cpu::<Fr>(&[1; 128]).expect("two").len(), 2);
    assert_eq!(uniform_on_cpu::<Fr>(&[]).expect("none").len(), 0);
    for length in [1, 63, 65, 127] {
        uniform_on_cpu::<Fr>(&vec![1; length]).expect_err("a part of one");
    }
}
