//! A sparse matrix that changes: changes, products with a delta, a merge.

use std::time::Instant;

use proofwarp::field::NttField;
use proofwarp::matrix::Csr;
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy, Threshold};
use proofwarp::{Accelerator, Report};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::inputs::{elements, outcome, timed};
use crate::{Failure, Outcome};

/// Changes one by one, then the same in batches; each product is compared with one of a matrix made anew.
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
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let values = elements::<F>(1 << 10, 6);
    let mut row = |_| -> Vec<(usize, F)> {
        (0..size).filter(|_| rng.gen_bool(density)).map(|column| (column, values[column % values.len()])).collect()
    };
    let csr = Csr::from_rows(size, (0..size).map(&mut row).collect::<Vec<_>>())?;
    let change = |number: usize| Change {
        row: number * 7919 % size,
        column: number * 104_729 % size,
        action: if number.is_multiple_of(2) {
            Action::Set(values[number % 999])
        } else {
            Action::Add(values[number % 777])
        },
    };
    let changes: Vec<Change<F>> = (0..updates).map(change).collect();
    let never = Policy { merge_above: Threshold::Never, at_least: 0 };
    let matrix = DynamicCsr::new(accelerator, csr, never)?;
    let x = elements::<F>(size, 7);
    let (before, first, median) = timed(runs, || product(&matrix, &x))?;
    let mut outcomes =
        vec![outcome("product, no changes".to_owned(), Some(&before.1), (first, median), "the base".to_owned())];
    outcomes.extend(appends(&matrix, &changes)?);
    let (changed, first, median) = timed(runs, || product(&matrix, &x))?;
    let name = format!("product with {} changed entries", matrix.snapshot()?.changed());
    outcomes.push(outcome(name, Some(&changed.1), (first, median), "against the merged".to_owned()));
    let start = Instant::now();
    matrix.merge()?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    outcomes.push(outcome("merge".to_owned(), None, (ms, ms), "by the product after it".to_owned()));
    let (merged, first, median) = timed(runs, || product(&matrix, &x))?;
    outcomes.push(outcome("product, merged".to_owned(), Some(&merged.1), (first, median), "with the delta".to_owned()));
    if merged.0 != changed.0 {
        return Err("the products before and after the merge differ".into());
    }
    println!("{}", matrix.explain());
    Ok(outcomes)
}

fn product<F: NttField>(matrix: &DynamicCsr<F>, x: &[F]) -> Result<(Vec<F>, Report), Failure> {
    let snapshot = matrix.snapshot()?;
    let mut y = vec![F::ZERO; snapshot.rows()];
    let report = snapshot.multiply(x, &mut y, None)?;
    Ok((y, report))
}

/// Half of the changes one by one, the others in batches of 1024.
fn appends<F: NttField>(matrix: &DynamicCsr<F>, changes: &[Change<F>]) -> Result<Vec<Outcome>, Failure> {
    let (single, batched) = changes.split_at(changes.len() / 2);
    let mut outcomes = Vec::new();
    for (changes, batch) in [(single, 1), (batched, 1024)] {
        let start = Instant::now();
        changes.chunks(batch).try_for_each(|changes| matrix.update(changes))?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let way = format!("{} changes, {batch} at a time", changes.len());
        outcomes.push(outcome(way, None, (ms, ms), "by the products".to_owned()));
    }
    Ok(outcomes)
}
