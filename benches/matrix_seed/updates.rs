//! Changes of a sparse matrix of 4096 × 4096: appended to a delta, merged one by one, and made in place.

use std::time::{Duration, Instant};

use ff::Field;
use halo2curves::bn256::Fr;
use proofwarp::Accelerator;
use proofwarp::matrix::Csr;
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy, Threshold};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{LOG_SIDE, Table, check};
use bench_support::Failure;
use bench_support::results::Outcome;

const SIDE: usize = 1 << LOG_SIDE;
/// Changes that are appended, merged one by one, and made in place; batches that are multiplied.
const APPENDED: usize = 1 << 14;
const MULTIPLIED: usize = 8;
const MERGED: usize = 20;
const IN_PLACE: usize = 20;

/// For a density, the time of a change by each way.
pub fn measure(table: &mut Table, percent: f64) {
    let operation = format!("update_{percent}%");
    if !table.wants(&operation) {
        return;
    }
    let rows = rows(percent);
    table.measure_on_host(&operation, "in place, by one core", || in_place(&rows));
    for batch in [1, 32, 1024] {
        let what = format!("appended, {batch} at a time");
        table.measure(&operation, &what, |cuda| appended(cuda, &rows, batch));
        let what = format!("appended, {batch} at a time, each time with a product");
        table.measure(&operation, &what, |cuda| multiplied(cuda, &rows, batch));
    }
    table.measure(&operation, "merged one by one", |cuda| merged(cuda, &rows));
}

fn rows(percent: f64) -> Vec<Vec<(usize, Fr)>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let values: Vec<Fr> = (0..1 << 12).map(|_| Fr::random(&mut rng)).collect();
    let mut row =
        |_| (0..SIDE).filter(|_| rng.gen_bool(percent / 100.0)).map(|column| (column, values[column])).collect();
    (0..SIDE).map(&mut row).collect()
}

fn changes(count: usize) -> Vec<Change<Fr>> {
    let change = |number: usize| {
        let place = number.wrapping_mul(0x9e37_79b9) % (SIDE * SIDE);
        Change { row: place / SIDE, column: place % SIDE, action: Action::Set(Fr::from(number as u64 + 2)) }
    };
    (0..count).map(change).collect()
}

fn dynamic(cuda: &Accelerator, rows: &[Vec<(usize, Fr)>]) -> Result<DynamicCsr<Fr>, Failure> {
    let never = Policy { merge_above: Threshold::Never, at_least: 0 };
    Ok(DynamicCsr::new(cuda, Csr::from_rows(SIDE, rows.iter().cloned())?, never)?)
}

fn product(matrix: &DynamicCsr<Fr>, x: &[Fr]) -> Result<Vec<Fr>, Failure> {
    let mut y = vec![Fr::zero(); SIDE];
    matrix.snapshot()?.multiply(x, &mut y, None)?;
    Ok(y)
}

/// The appends alone; the product after them is checked against that of the merged matrix.
fn appended(cuda: &Accelerator, rows: &[Vec<(usize, Fr)>], batch: usize) -> Result<Outcome, Failure> {
    let (matrix, changes) = (dynamic(cuda, rows)?, changes(APPENDED));
    let x: Vec<Fr> = (0..SIDE as u64).map(|i| Fr::from(i * i + 3)).collect();
    let start = Instant::now();
    changes.chunks(batch).try_for_each(|changes| matrix.update(changes))?;
    let elapsed = start.elapsed();
    let before = product(&matrix, &x)?;
    matrix.merge()?;
    check(product(&matrix, &x)? == before)?;
    Ok(a_change(elapsed, APPENDED))
}

/// Batches with a product after each: what a product takes is part of it.
fn multiplied(cuda: &Accelerator, rows: &[Vec<(usize, Fr)>], batch: usize) -> Result<Outcome, Failure> {
    let (matrix, changes) = (dynamic(cuda, rows)?, changes(MULTIPLIED * batch));
    let x: Vec<Fr> = (0..SIDE as u64).map(|i| Fr::from(i * i + 3)).collect();
    product(&matrix, &x)?;
    let (mut last, start) = (Vec::new(), Instant::now());
    for changes in changes.chunks(batch) {
        matrix.update(changes)?;
        last = product(&matrix, &x)?;
    }
    let elapsed = start.elapsed();
    matrix.merge()?;
    check(product(&matrix, &x)? == last)?;
    Ok(a_change(elapsed, changes.len()))
}

/// Our own parallel rebuild for each change.
fn merged(cuda: &Accelerator, rows: &[Vec<(usize, Fr)>]) -> Result<Outcome, Failure> {
    let matrix = dynamic(cuda, rows)?;
    // The first one makes kernels ready.
    matrix.set(0, 0, Fr::one())?;
    matrix.merge()?;
    let start = Instant::now();
    for change in changes(MERGED) {
        matrix.update(&[change])?;
        matrix.merge()?;
    }
    let elapsed = start.elapsed();
    check(matrix.explain().changes == 0)?;
    Ok(a_change(elapsed, MERGED))
}

/// One insertion after the other into compressed rows: what lies behind it is moved, and the pointers behind it are raised.
fn in_place(rows: &[Vec<(usize, Fr)>]) -> Result<Outcome, Failure> {
    let mut pointers: Vec<usize> =
        rows.iter().scan(0, |end, row| Some(std::mem::replace(end, *end + row.len()))).collect();
    let (mut columns, mut values): (Vec<usize>, Vec<Fr>) = rows.iter().flatten().copied().unzip();
    pointers.push(columns.len());
    let changes = changes(IN_PLACE);
    let start = Instant::now();
    for change in &changes {
        let Action::Set(value) = change.action else { return Err("only values are set here".into()) };
        let range = pointers[change.row]..pointers[change.row + 1];
        match columns[range.clone()].binary_search(&change.column) {
            Ok(place) => values[range.start + place] = value,
            Err(place) => {
                columns.insert(range.start + place, change.column);
                values.insert(range.start + place, value);
                pointers[change.row + 1..].iter_mut().for_each(|pointer| *pointer += 1);
            }
        }
    }
    let elapsed = start.elapsed();
    check(changes.iter().all(|change| {
        let range = pointers[change.row]..pointers[change.row + 1];
        columns[range].binary_search(&change.column).is_ok()
    }))?;
    Ok(a_change(elapsed, IN_PLACE))
}

fn a_change(elapsed: Duration, count: usize) -> Outcome {
    let nanoseconds = (elapsed.as_nanos() / count as u128) as u64;
    Outcome::Time { nanoseconds, samples: count, note: "for a change".to_owned() }
}
