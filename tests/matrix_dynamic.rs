//! Matrices that change, on every backend and on the CPU, against a map of maps.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{abort_after, accelerators_and_cpu, accelerators_with_devices, alone, rng};
use ff::Field;
use halo2curves::bn256::Fr;
use proofwarp::matrix::Csr;
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy, Threshold};
use proofwarp::{Accelerator, BackendKind, Error};
use proptest::prelude::*;

const NEVER: Policy = Policy { merge_above: Threshold::Never, at_least: 0 };

/// The definition: rows of columns of values.
#[derive(Clone, Default)]
struct Model(BTreeMap<usize, BTreeMap<usize, Fr>>);

impl Model {
    fn change(&mut self, change: &Change<Fr>) {
        let entry = self.0.entry(change.row).or_default().entry(change.column).or_insert(Fr::zero());
        match change.action {
            Action::Set(value) => *entry = value,
            Action::Add(value) => *entry += value,
        }
    }

    fn times(&self, x: &[Fr], rows: usize) -> Vec<Fr> {
        let row = |row: usize| self.0.get(&row).into_iter().flatten().map(|(column, value)| *value * x[*column]).sum();
        (0..rows).map(row).collect()
    }

    fn csr(&self, rows: usize, columns: usize) -> Csr<Fr> {
        let row = |row: usize| self.0.get(&row).into_iter().flatten().map(|(column, value)| (*column, *value));
        Csr::from_rows(columns, (0..rows).map(row)).expect("a matrix")
    }
}

fn x(columns: usize) -> Vec<Fr> {
    let mut rng = rng(columns as u64);
    (0..columns).map(|_| Fr::random(&mut rng)).collect()
}

fn times(matrix: &DynamicCsr<Fr>, x: &[Fr], rows: usize) -> Vec<Fr> {
    let mut y = vec![Fr::one(); rows];
    matrix.snapshot().expect("a snapshot").multiply(x, &mut y, None).expect("a product");
    y
}

/// One step of a history.
#[derive(Debug, Clone)]
enum Step {
    Change(usize, usize, i8, bool),
    Remove(usize, usize),
    Merge,
    Product,
}

fn steps(rows: usize, columns: usize) -> impl Strategy<Value = Vec<Step>> {
    let place = || (0..rows, 0..columns);
    let step = prop_oneof![
        8 => (place(), -3..4i8, any::<bool>()).prop_map(|((row, column), value, sets)| Step::Change(row, column, value, sets)),
        2 => place().prop_map(|(row, column)| Step::Remove(row, column)),
        1 => Just(Step::Merge),
        2 => Just(Step::Product),
    ];
    prop::collection::vec(step, 0..60)
}

fn number(value: i8) -> Fr {
    let magnitude = Fr::from(u64::from(value.unsigned_abs()));
    if value < 0 { -magnitude } else { magnitude }
}

/// Any interleaving, from a base that may have columns twice and empty rows; a delta may be larger than the base.
fn history(accelerator: &Accelerator, rows: usize, columns: usize, steps: &[Step]) {
    let twice = |row: usize| [(row % columns, Fr::from(2)), (row % columns, Fr::from(5)), (columns - 1, -Fr::one())];
    let base: Vec<Vec<(usize, Fr)>> =
        (0..rows).map(|row| if row % 2 == 0 { twice(row).to_vec() } else { vec![] }).collect();
    let mut model = Model::default();
    for (row, entries) in base.iter().enumerate() {
        for (column, value) in entries {
            model.change(&Change { row, column: *column, action: Action::Add(*value) });
        }
    }
    let csr = Csr::from_rows(columns, base).expect("a matrix");
    let matrix = DynamicCsr::new(accelerator, csr, NEVER).expect("a matrix");
    let x = x(columns);
    for step in steps {
        match *step {
            Step::Change(row, column, value, sets) => {
                let action = if sets { Action::Set(number(value)) } else { Action::Add(number(value)) };
                matrix.update(&[Change { row, column, action }]).expect("a change");
                model.change(&Change { row, column, action });
            }
            Step::Remove(row, column) => {
                matrix.remove(row, column).expect("a change");
                model.change(&Change { row, column, action: Action::Set(Fr::zero()) });
            }
            Step::Merge => {
                let before = times(&matrix, &x, rows);
                matrix.merge().expect("a merge");
                assert_eq!(matrix.explain().changes, 0);
                assert!(times(&matrix, &x, rows) == before);
            }
            Step::Product => assert!(times(&matrix, &x, rows) == model.times(&x, rows), "{accelerator:?}"),
        }
    }
    assert!(times(&matrix, &x, rows) == model.times(&x, rows), "{accelerator:?}");
}

#[test]
fn random_histories() {
    let accelerators = accelerators_and_cpu();
    let histories =
        (1..9usize, 1..9usize).prop_flat_map(|(rows, columns)| (Just(rows), Just(columns), steps(rows, columns)));
    let config = ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((rows, columns, steps) in histories)| {
        for accelerator in &accelerators {
            history(accelerator, rows, columns, &steps);
        }
    });
}

/// Row 0 and the last, rows that were empty, and a delta as large as the base.
#[test]
fn many_changes() {
    let (rows, columns) = (700, 300);
    let mut model = Model::default();
    (0..rows).step_by(3).for_each(|row| {
        model.change(&Change { row, column: row % columns, action: Action::Set(Fr::from(row as u64 + 2)) });
    });
    let changes: Vec<Change<Fr>> = (0..2000)
        .map(|i| Change { row: i * 7 % rows, column: i * 11 % columns, action: Action::Add(Fr::from(i as u64)) })
        .chain([Change { row: rows - 1, column: columns - 1, action: Action::Set(-Fr::one()) }])
        .collect();
    let (csr, x) = (model.csr(rows, columns), x(columns));
    let mut after = model.clone();
    for change in &changes {
        after.change(change);
    }
    for accelerator in accelerators_and_cpu() {
        let matrix = DynamicCsr::new(&accelerator, csr.clone(), NEVER).expect("a matrix");
        let before = matrix.snapshot().expect("a snapshot");
        matrix.update(&changes).expect("changes");
        assert!(times(&matrix, &x, rows) == after.times(&x, rows));
        matrix.merge().expect("a merge");
        assert!(times(&matrix, &x, rows) == after.times(&x, rows));
        assert_eq!((matrix.explain().merges, matrix.explain().changes), (1, 0));
        // An earlier version stays what it was.
        let mut y = vec![Fr::one(); rows];
        before.multiply(&x, &mut y, None).expect("a product");
        assert!(y == model.times(&x, rows));
    }
}

#[test]
fn zeros_are_removed_by_a_merge() {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let csr = Csr::from_rows(3, [vec![(0, Fr::one()), (2, Fr::one())], vec![(1, Fr::one())]]).expect("a matrix");
    let matrix = DynamicCsr::new(&cpu, csr, NEVER).expect("a matrix");
    matrix.remove(0, 2).expect("a change");
    matrix.add(1, 1, -Fr::one()).expect("a change");
    matrix.set(1, 0, Fr::from(4)).expect("a change");
    assert_eq!(matrix.explain().nonzeros, 3);
    matrix.merge().expect("a merge");
    assert_eq!(matrix.explain().nonzeros, 2);
    assert!(times(&matrix, &x(3), 2) == [x(3)[0], x(3)[0] * Fr::from(4)]);
    let text = matrix.explain().to_string();
    assert!(text.contains("2 non-zeros, 0 changes, 1 merges") && text.ends_with("none by itself"), "{text}");
}

/// Merges by themselves above the threshold, in the background.
#[test]
fn a_merge_by_itself() {
    for accelerator in accelerators_and_cpu() {
        // Compiled before, which may take longer than the test waits.
        changed(&accelerator).0.merge().expect("a merge");
        let policy = Policy { merge_above: Threshold::Entries(10), at_least: 0 };
        let csr = Model::default().csr(20, 20);
        let matrix = DynamicCsr::new(&accelerator, csr, policy).expect("a matrix");
        let mut model = Model::default();
        for i in 0..200 {
            let change = Change { row: i % 20, column: i * 3 % 20, action: Action::Add(Fr::from(i as u64)) };
            matrix.update(&[change]).expect("a change");
            model.change(&change);
        }
        let start = std::time::Instant::now();
        while matrix.explain().merges == 0 {
            assert!(start.elapsed().as_secs() < 60, "no merge: {}", matrix.explain());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(times(&matrix, &x(20), 20) == model.times(&x(20), 20), "{accelerator:?}");
    }
}

/// Every reader sees one version while others change and merge: rows are changed together, so all sums are alike.
#[test]
fn readers_during_merges() {
    for accelerator in accelerators_and_cpu() {
        let matrix = DynamicCsr::new(&accelerator, Model::default().csr(16, 4), NEVER).expect("a matrix");
        // Compiled before: PoCL does not take that from several threads at once.
        matrix.set(0, 0, Fr::zero()).expect("a change");
        times(&matrix, &x(4), 16);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let y = times(&matrix, &[Fr::one(); 4], 16);
                        assert!(y.iter().all(|value| *value == y[0]), "a mixture of versions");
                    }
                });
            }
            for round in 0..12u64 {
                let add = |row| Change { row, column: (round % 4) as usize, action: Action::Add(Fr::from(round)) };
                matrix.update(&(0..16).map(add).collect::<Vec<_>>()).expect("changes");
                matrix.merge().expect("a merge");
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(times(&matrix, &[Fr::one(); 4], 16) == vec![Fr::from(66); 16]);
    }
}

#[test]
fn what_is_refused() {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let matrix = DynamicCsr::new(&cpu, Model::default().csr(3, 4), NEVER).expect("a matrix");
    let text = |result: proofwarp::Result<()>| result.expect_err("refused").to_string();
    assert_eq!(text(matrix.set(3, 0, Fr::one())), "dynamic csr: row: expected below 3, got 3");
    assert_eq!(text(matrix.add(0, 4, Fr::one())), "dynamic csr: column: expected below 4, got 4");
    let change = |row| Change { row, column: 0, action: Action::Set(Fr::one()) };
    assert_eq!(text(matrix.update(&[change(0), change(9)])), "dynamic csr: row: expected below 3, got 9");
    assert_eq!(matrix.explain().changes, 0, "all of them or none");
    let snapshot = matrix.snapshot().expect("a snapshot");
    let mut y = vec![Fr::one(); 3];
    let product = |x: &[Fr], y: &mut [Fr]| text(snapshot.multiply(x, y, None).map(|_| ()));
    assert_eq!(product(&[Fr::one(); 3], &mut y), "dynamic csr: length of the vector: expected 4, got 3");
    assert_eq!(product(&[Fr::one(); 4], &mut y[..2]), "dynamic csr: length of the result: expected 3, got 2");
    assert!(y == [Fr::one(); 3]);
}

/// A matrix with a delta, and what it is times x.
fn changed(accelerator: &Accelerator) -> (DynamicCsr<Fr>, Vec<Fr>) {
    let mut model = Model::default();
    let base = model.csr(40, 30);
    let matrix = DynamicCsr::new(accelerator, base, NEVER).expect("a matrix");
    for i in 0..90 {
        let change = Change { row: i * 7 % 40, column: i % 30, action: Action::Add(Fr::from(i as u64 + 3)) };
        matrix.update(&[change]).expect("a change");
        model.change(&change);
    }
    let expected = model.times(&x(30), 40);
    (matrix, expected)
}

#[test]
fn an_abort_leaves_the_result() {
    for accelerator in accelerators_and_cpu() {
        let (matrix, expected) = changed(&accelerator);
        let mut aborted = 0;
        for questions in 0.. {
            let mut y = vec![Fr::one(); 40];
            let snapshot = matrix.snapshot().expect("a snapshot");
            match snapshot.multiply(&x(30), &mut y, Some(&abort_after(questions))) {
                Err(Error::Aborted) => assert!(y.iter().all(|value| *value == Fr::one())),
                other => {
                    other.expect("no other error");
                    assert!(y == expected, "{accelerator:?}");
                    break;
                }
            }
            aborted += 1;
        }
        assert!(aborted > 1, "{accelerator:?}");
    }
}

/// Whichever launch fails, the result is as it was, and the next product is right; unforced it is the CPU's.
#[test]
fn a_failure_leaves_the_result() {
    for accelerator in alone(None) {
        let (matrix, expected) = changed(&accelerator);
        let device = &accelerator.devices()[0];
        let launches = {
            let mut y = vec![Fr::one(); 40];
            let snapshot = matrix.snapshot().expect("a snapshot");
            snapshot.multiply(&x(30), &mut y, None).expect("a product").traffic.launches
        };
        assert_eq!(launches, 2, "base and delta");
        for launch in 0..launches {
            let mut y = vec![Fr::one(); 40];
            device.inject_launch_fault(launch);
            let snapshot = matrix.snapshot().expect("a snapshot");
            let error = snapshot.multiply(&x(30), &mut y, None).expect_err("injected").to_string();
            assert!(error.contains("injected") && y.iter().all(|value| *value == Fr::one()), "{error}");
            snapshot.multiply(&x(30), &mut y, None).expect("the next call");
            assert!(y == expected);
        }
        let unforced = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
        let (matrix, expected) = changed(&unforced);
        let mut y = vec![Fr::one(); 40];
        device.inject_launch_fault(1);
        let report = matrix.snapshot().expect("a snapshot").multiply(&x(30), &mut y, None).expect("the CPU's");
        assert!(y == expected && report.backend == BackendKind::Cpu, "{report}");
    }
}

/// Where a merge's launch fails, the old version is whole, and a later merge works; unforced it is made on the host.
#[test]
fn a_failure_leaves_the_old_version() {
    for accelerator in alone(None) {
        let device = &accelerator.devices()[0];
        let whole = |matrix: &DynamicCsr<Fr>, expected: &[Fr]| assert!(times(matrix, &x(30), 40) == expected);
        let (matrix, expected) = changed(&accelerator);
        // The changes are there, so that the launch is the merge's.
        whole(&matrix, &expected);
        for launch in 0..2 {
            device.inject_launch_fault(launch);
            let error = matrix.merge().expect_err("injected").to_string();
            assert!(error.contains("injected"), "{error}");
            assert_eq!((matrix.explain().merges, matrix.explain().changes), (0, 90));
            whole(&matrix, &expected);
        }
        matrix.merge().expect("the next one");
        assert_eq!((matrix.explain().merges, matrix.explain().changes), (1, 0));
        whole(&matrix, &expected);
        let unforced = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
        let (matrix, expected) = changed(&unforced);
        whole(&matrix, &expected);
        device.inject_launch_fault(0);
        matrix.merge().expect("on the host");
        whole(&matrix, &expected);
    }
}

/// What a device merged is merged on the host when that has to multiply, also after several merges.
#[test]
fn the_host_has_what_a_device_merged() {
    for accelerator in alone(None) {
        let unforced = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
        let (matrix, _) = changed(&unforced);
        matrix.merge().expect("a merge");
        matrix.remove(0, 0).expect("a change");
        matrix.add(39, 29, Fr::from(5)).expect("a change");
        matrix.merge().expect("a merge");
        let expected = times(&matrix, &x(30), 40);
        unforced.devices()[0].inject_launch_fault(0);
        let mut y = vec![Fr::one(); 40];
        let report = matrix.snapshot().expect("a snapshot").multiply(&x(30), &mut y, None).expect("the CPU's");
        assert!(y == expected && report.backend == BackendKind::Cpu, "{report}");
    }
}

/// Merges of a matrix that grows take the memory of those before, once there is some.
#[test]
fn merges_find_memory() {
    let (side, each) = (200, 200);
    let mut model = Model::default();
    let change = |i: usize| {
        let place = i * 7919 % (side * side);
        Change { row: place / side, column: place % side, action: Action::Set(Fr::from(i as u64 + 3)) }
    };
    (0..80 * each).for_each(|i| model.change(&change(i)));
    for accelerator in alone(None) {
        let matrix = DynamicCsr::new(&accelerator, model.csr(side, side), NEVER).expect("a matrix");
        let mut blocks = Vec::new();
        for round in 80..89 {
            matrix.update(&(round * each..(round + 1) * each).map(change).collect::<Vec<_>>()).expect("changes");
            times(&matrix, &x(side), side);
            matrix.merge().expect("a merge");
            blocks.push(accelerator.devices()[0].driver_alloc_count());
        }
        assert!(blocks[2..].iter().all(|number| *number == blocks[2]), "{accelerator:?}: {blocks:?}");
        let mut after = model.clone();
        (80 * each..89 * each).for_each(|i| after.change(&change(i)));
        assert!(times(&matrix, &x(side), side) == after.times(&x(side), side));
    }
}

/// A merge that has no memory for the new base leaves the old one, and its changes.
#[test]
fn a_merge_without_memory() {
    for limit in [10, 12, 14, 16, 20].map(|pages| pages * 4096) {
        for accelerator in alone(Some(limit)) {
            let matrix = DynamicCsr::new(&accelerator, Model::default().csr(200, 200), NEVER).expect("a small one");
            let mut model = Model::default();
            for i in 0..4000 {
                let change = Change {
                    row: i % 200,
                    column: (i * 7 + i / 200) % 200,
                    action: Action::Set(Fr::from(i as u64 + 3)),
                };
                matrix.update(&[change]).expect("a change");
                model.change(&change);
            }
            let error = matrix.merge().expect_err("too large");
            assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
            assert_eq!((matrix.explain().changes, matrix.explain().merges), (4000, 0));
            let version = matrix.snapshot().expect("a snapshot");
            let mut y = vec![Fr::one(); 200];
            match version.multiply(&x(200), &mut y, None) {
                Ok(_) => assert!(y == model.times(&x(200), 200)),
                Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error}"),
            }
        }
    }
    assert!(!accelerators_with_devices().is_empty() || std::env::var("PROOFWARP_BACKEND").is_ok());
}
