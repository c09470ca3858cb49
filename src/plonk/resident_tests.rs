//! Tests of advice columns that are on the device before a proof starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ff::Field;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256::{Fr, G1, G1Affine};

use super::circuit::Circuit;
use super::columns_layout_and_key::{Column, ColumnId, ColumnLayout, ColumnView, Key};
use super::compiled_circuit::CompiledCircuit;
use super::engine::{Engine, MemoryPlan, Srs};
use super::{AdviceStage, ProverContext};
use crate::backend::{BackendKind, ForeignMemory};
use crate::expression::Expression;
use crate::{Accelerator, Error};

/// Number of advice columns: more than a launch reads vectors of.
const COLUMNS: usize = 9;
const LOG_N: u32 = 4;
const N: usize = 1 << LOG_N;

fn engine() -> Option<Engine<G1Affine>> {
    let accelerator = Accelerator::with_backend(BackendKind::OpenCl).ok()?;
    let points = || (1..=N as u64).map(|k| (G1::generator() * Fr::from(k)).into()).collect::<Vec<G1Affine>>();
    let srs = Srs::new(&accelerator, points(), points()).expect("points");
    Some(Engine::new(&accelerator, LOG_N, Arc::new(srs)).expect("an engine"))
}

/// Returns a circuit whose only constraint is that all advice columns are 0 together.
fn circuit() -> CompiledCircuit<Fr> {
    let layout = ColumnLayout { fixed: 0, permuted: 0, advice: COLUMNS, instances: 0, sets: 0, lookups: 0 };
    let column = |k| Expression::column(layout.column_number(ColumnId::Advice(k)), 0);
    let circuit = Circuit {
        log_n: LOG_N,
        degree: 3,
        blinding: 3,
        layout,
        advice_phases: vec![0; COLUMNS],
        challenge_phases: Vec::new(),
        gates: vec![(1..COLUMNS).fold(column(0), |sum, k| sum + column(k))],
        lookups: Vec::new(),
        permutation: Vec::new(),
        advice_queries: (0..COLUMNS).map(|k| (k, 0)).collect(),
        fixed_queries: Vec::new(),
    };
    CompiledCircuit::new(circuit, MemoryPlan::ALL).expect("a circuit")
}

/// Returns the values of all advice columns.
fn values() -> Vec<Vec<Fr>> {
    (0..COLUMNS as u64).map(|k| (0..N as u64).map(|row| Fr::from(100 * k + row)).collect()).collect()
}

/// Returns a function that counts upwards, in place of a random source.
fn counter() -> impl FnMut() -> Fr {
    let mut last = Fr::ZERO;
    move || {
        last += Fr::ONE;
        last
    }
}

/// Runs `test` with the advice stage of a proof of [`circuit`] without instances.
fn with_stage(engine: &Engine<G1Affine>, test: impl FnOnce(AdviceStage<'_, G1Affine>)) {
    let (circuit, zeros) = (circuit(), [Fr::ZERO; N]);
    let rows = ColumnView::new(&zeros);
    let key = Key { fixed: Vec::new(), sigma: Vec::new(), first: rows, last: rows, active: rows };
    let context = ProverContext { engine, circuit: &circuit, key: &key, peers: &[] };
    test(AdviceStage::new(context, &[&[]]).expect("a stage"));
}

/// Returns the columns on the device, each in a vector of its own.
fn upload(engine: &Engine<G1Affine>) -> Vec<(usize, Column<Fr>)> {
    let one = |column| engine.upload(vec![column]).expect("memory").remove(0);
    values().into_iter().map(one).enumerate().collect()
}

#[test]
fn resident_columns_give_the_same_commitments() {
    let Some(engine) = engine() else { return eprintln!("skipped: columns need a device") };
    with_stage(&engine, |mut stage| {
        let mut host = values();
        let expected = stage.commit(0, host.iter_mut().enumerate().collect(), &mut counter()).expect("commitments");
        assert!(expected.iter().all(|point| !bool::from(point.is_identity())));
        let resident = stage.commit_resident(0, upload(&engine), &mut counter()).expect("commitments");
        assert_eq!(resident, expected);
        let own = &stage.state.columns[0];
        for (k, column) in own.iter().take(COLUMNS).enumerate() {
            assert_eq!(*column.download().expect("elements"), host[k][..], "with the same blinding");
        }
    });
}

#[test]
fn shared_columns_are_one() {
    let Some(engine) = engine() else { return eprintln!("skipped: columns need a device") };
    let columns = upload(&engine);
    let shared: Vec<_> = columns.iter().map(|(k, column)| (*k, column.share().expect("on a device"))).collect();
    with_stage(&engine, |mut stage| {
        stage.commit_resident(0, shared, &mut counter()).expect("commitments");
    });
    let first = columns[0].1.download().expect("elements");
    assert_eq!((first[0], first[N - 3]), (Fr::ZERO, Fr::from(2)), "blinded in place");
}

#[test]
fn columns_in_host_memory_or_of_other_shapes_are_refused() {
    let Some(engine) = engine() else { return eprintln!("skipped: columns need a device") };
    let on_host = || Column::new(vec![Fr::ONE; N]);
    let invalid = |result: Result<Vec<G1Affine>, Error>, text: &str| {
        let error = result.expect_err("refused").to_string();
        assert!(error.contains(text), "{error}");
    };
    assert!(on_host().share().is_err());
    with_stage(&engine, |mut stage| {
        invalid(stage.commit_resident(0, vec![(0, on_host())], &mut counter()), "on a device");
        invalid(stage.commit_resident(1, upload(&engine), &mut counter()), "below 1");
        let beyond = upload(&engine).into_iter().map(|(k, column)| (k + 1, column)).collect();
        invalid(stage.commit_resident(0, beyond, &mut counter()), "a number below 9");
    });
}

/// Counts its drops.
#[derive(Debug)]
struct Elsewhere(Arc<AtomicUsize>);

// SAFETY: nothing reads the memory, for no backend of this test adopts it.
unsafe impl ForeignMemory for Elsewhere {
    fn address(&self) -> usize {
        4096
    }

    fn bytes(&self) -> usize {
        32 * N
    }

    fn ordinal(&self) -> usize {
        0
    }

    fn stream(&self) -> usize {
        0
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn memory_without_addresses_is_not_adopted() {
    let Some(engine) = engine() else { return eprintln!("skipped: columns need a device") };
    let dropped = Arc::new(AtomicUsize::new(0));
    let memory = (0..3).map(|_| Box::new(Elsewhere(dropped.clone())) as Box<dyn ForeignMemory>).collect();
    // SAFETY: the memory is refused.
    let error = unsafe { engine.adopt_columns(memory) }.expect_err("refused");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert_eq!(dropped.load(Ordering::Relaxed), 3);
}
