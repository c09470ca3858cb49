//! A quantised layer: weights of 8 bits times activations in the field, its check, and the folds that a proof of it takes.

use ff::Field;
use proofwarp::Accelerator;
use proofwarp::matrix::dense::{Dense, DenseField, Entry, Options};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::inputs::{bytes, elements, outcome, rounds, timed};
use crate::{Failure, Outcome};

/// # Errors
/// A product fails, or its check does.
pub fn measure<F: DenseField>(
    accelerator: &Accelerator,
    [rows, inner, columns]: [usize; 3],
    runs: u32,
) -> Result<Vec<Outcome>, Failure> {
    let weights = Dense::upload(accelerator, &bytes(rows * inner, 1), rows, inner)?;
    let numbers = Dense::upload(accelerator, &bytes(inner * columns, 2), inner, columns)?;
    let options = Options::default();
    println!("{}", weights.explain(&numbers, &options)?);
    // Sums of 32 bits, then elements.
    let (exact, first, median) = timed(runs, || Ok(weights.multiply(&numbers, &options, None)?.to_field::<F>()?))?;
    let activations = numbers.to_field::<F>()?;
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let verdict = exact.check_product::<F, _, _>(&weights, &activations, rounds::<F>(), &mut rng)?;
    let mut outcomes = vec![outcome(
        format!("i8 · i8 to {}", <F as Entry>::NAME),
        exact.report(),
        (first, median),
        said(verdict.holds(), verdict.error_bits)?,
    )];
    let (direct, first, median) = timed(runs, || Ok(weights.multiply(&activations, &options, None)?))?;
    let same = direct.download()? == exact.download()?;
    outcomes.push(outcome(
        format!("i8 · {}", <F as Entry>::NAME),
        direct.report(),
        (first, median),
        same.then(|| "the same".to_owned()).ok_or("i8 · i8 and i8 · F differ")?,
    ));
    outcomes.push(folds(accelerator, &weights, (&activations, &direct), runs)?);
    Ok(outcomes)
}

/// Σ over rows and columns of eq-weighted entries: uᵀ·C·v = (uᵀ·W)·(X·v), the claim that sumcheck starts from.
fn folds<F: DenseField>(
    accelerator: &Accelerator,
    weights: &Dense<i8>,
    (activations, product): (&Dense<F>, &Dense<F>),
    runs: u32,
) -> Result<Outcome, Failure> {
    let u = Dense::vector(accelerator, &eq::<F>(product.rows(), 3))?;
    let v = Dense::vector(accelerator, &eq::<F>(product.columns(), 4))?;
    let ((left, right), first, median) = timed(runs, || Ok((weights.fold_rows(&u)?, activations.fold_columns(&v)?)))?;
    let claim: F = left.download()?.into_iter().zip(right.download()?).map(|(a, b)| a * b).sum();
    let of_product = product.fold_columns(&v)?.download()?;
    let expected: F = of_product.into_iter().zip(u.download()?).map(|(a, b)| a * b).sum();
    if claim != expected {
        return Err("the folds of the factors and of the product differ".into());
    }
    Ok(outcome("folds by eq".to_owned(), left.report(), (first, median), "against the product's".to_owned()))
}

/// The first values of eq of a random point, as many as there are rows.
fn eq<F: Field>(count: usize, seed: u64) -> Vec<F> {
    let mut values = vec![F::ONE];
    for coordinate in elements::<F>(count.next_power_of_two().ilog2() as usize, seed) {
        values = values.into_iter().flat_map(|value| [value - value * coordinate, value * coordinate]).collect();
    }
    values.truncate(count);
    values
}

fn said(holds: bool, bits: u32) -> Result<String, Failure> {
    if holds { Ok(format!("Freivalds, 2^-{bits}")) } else { Err("the product is wrong".into()) }
}
