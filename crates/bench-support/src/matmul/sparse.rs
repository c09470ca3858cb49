//! A sparse matrix that changes: changes, products with a delta, merges.

use std::time::Instant;

use proofwarp::field::NttField;
use proofwarp::matrix::Csr;
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy, Threshold};
use proofwarp::{Accelerator, Report};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::outcome::Outcome;
use crate::Failure;
use crate::inputs::elements;
use crate::timing::{median, timed};

/// Different values.
const VALUES: usize = 1 << 20;

/// Holds the times of a round of changes, in ms.
#[derive(Default)]
struct Times {
    single: Vec<f64>,
    batched: Vec<f64>,
    first: Vec<f64>,
    changed: Vec<f64>,
    merge: Vec<f64>,
    merged: Vec<f64>,
}

/// Rounds of changes, one by one and in batches, of products with the delta, a merge, and products of what that made. Products before
/// and after a merge are compared; the last one with that of a matrix made anew.
///
/// # Errors
/// A product fails, or is another one.
pub fn measure<F: NttField>(
    accelerator: &Accelerator,
    size: usize,
    density: f64,
    updates: usize,
    runs: u32,
) -> Result<Vec<Outcome>, Failure> {
    let values = elements::<F>(VALUES, 6);
    let mut rows = rows(size, density, &values);
    let never = Policy { merge_above: Threshold::Never, at_least: 0 };
    let matrix = DynamicCsr::new(accelerator, Csr::from_rows(size, rows.iter().cloned())?, never)?;
    let x = elements::<F>(size, 7);
    let (before, first, base) = timed(runs, || product(&matrix, &x))?;
    let mut outcomes =
        vec![Outcome::new("product, no changes".to_owned(), Some(&before.1), (first, base), "the base".to_owned())];
    let (mut times, mut last) = (Times::default(), None);
    for round in 0..=runs as usize {
        let changes = changes(size, updates, round * updates, &values);
        last = Some(one_round(&matrix, (&changes, &mut rows), (&x, runs), &mut times)?);
    }
    let Some([changed, merged]) = last else { return Err("no rounds".into()) };
    if merged.0 != product(&DynamicCsr::new(accelerator, Csr::from_rows(size, rows)?, never)?, &x)?.0 {
        return Err("the product differs from that of a matrix made anew".into());
    }
    let checked = || "by the products".to_owned();
    let mut line = |way: String, report: Option<&Report>, times: Vec<f64>| {
        outcomes.push(Outcome::new(way, report, (times[0], median(times[1..].to_vec())), checked()));
    };
    line(format!("{} changes, 1 at a time", updates / 2), None, times.single);
    line(format!("{} changes, 1024 at a time", updates - updates / 2), None, times.batched);
    line(format!("first product with {updates} changes"), None, times.first);
    line(format!("product with {updates} changes"), Some(&changed.1), times.changed);
    line("merge".to_owned(), None, times.merge);
    line("product, merged".to_owned(), Some(&merged.1), times.merged);
    say!("{}", matrix.explain());
    Ok(outcomes)
}

/// Makes the rows of a matrix, each value another one.
fn rows<F: NttField>(size: usize, density: f64, values: &[F]) -> Vec<Vec<(usize, F)>> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut values = values.iter().copied().cycle();
    let mut row = |_| (0..size).filter(|_| rng.gen_bool(density)).zip(values.by_ref()).collect();
    (0..size).map(&mut row).collect()
}

/// Changes of places all over.
fn changes<F: NttField>(size: usize, count: usize, first: usize, values: &[F]) -> Vec<Change<F>> {
    let change = |number: usize| {
        // By an odd factor, so that no place is there twice where the size is a power of two.
        let place = number.wrapping_mul(0x9e37_79b9) % (size * size);
        let value = values[number * 31 % values.len()];
        let action = if number.is_multiple_of(2) { Action::Set(value) } else { Action::Add(value) };
        Change { row: place / size, column: place % size, action }
    };
    (first..first + count).map(change).collect()
}

/// A product and what it ran on.
type Product<F> = (Vec<F>, Report);

fn product<F: NttField>(matrix: &DynamicCsr<F>, x: &[F]) -> Result<Product<F>, Failure> {
    let snapshot = matrix.snapshot()?;
    let mut y = vec![F::ZERO; snapshot.rows()];
    let report = snapshot.multiply(x, &mut y, None)?;
    Ok((y, report))
}

/// Holds columns and values of each row.
type Rows<F> = [Vec<(usize, F)>];

/// Half of the changes one by one, the others in batches of 1024; products; a merge. The last products before and after that.
fn one_round<F: NttField>(
    matrix: &DynamicCsr<F>,
    (changes, rows): (&[Change<F>], &mut Rows<F>),
    (x, runs): (&[F], u32),
    times: &mut Times,
) -> Result<[Product<F>; 2], Failure> {
    for change in changes {
        apply(rows, change);
    }
    let (single, batched) = changes.split_at(changes.len() / 2);
    times.single.push(once(|| Ok(single.chunks(1).try_for_each(|changes| matrix.update(changes))?))?);
    times.batched.push(once(|| Ok(batched.chunks(1024).try_for_each(|changes| matrix.update(changes))?))?);
    let (changed, first, median) = timed(runs, || product(matrix, x))?;
    times.first.push(first);
    times.changed.push(median);
    times.merge.push(once(|| Ok(matrix.merge()?))?);
    let (merged, _, median) = timed(runs, || product(matrix, x))?;
    times.merged.push(median);
    if merged.0 != changed.0 {
        return Err("the products before and after the merge differ".into());
    }
    Ok([changed, merged])
}

fn once(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    work().map(|()| start.elapsed().as_secs_f64() * 1e3)
}

/// A change of rows whose columns are in order.
fn apply<F: NttField>(rows: &mut [Vec<(usize, F)>], change: &Change<F>) {
    let row = &mut rows[change.row];
    let after = |before: F| match change.action {
        Action::Set(value) => value,
        Action::Add(value) => before + value,
    };
    match row.binary_search_by_key(&change.column, |(column, _)| *column) {
        Ok(place) => row[place].1 = after(row[place].1),
        Err(place) => row.insert(place, (change.column, after(F::ZERO))),
    }
}
