//! A quantised layer: weights of 8 bits times activations in the field, its check, and the folds and the sumcheck of a proof of it.

use ff::Field;
use proofwarp::Accelerator;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Entry};
use proofwarp::sumcheck::{BoundTranscript, Claim, Columns, HashTranscript, SumcheckField, prove, verify};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use super::outcome::Outcome;
use super::rounds;
use crate::Failure;
use crate::inputs::{bytes, elements};
use crate::timing::timed;

/// A layer over F, and a sumcheck over a field that it is in.
///
/// # Errors
/// A product fails, or its check does.
pub fn measure<F: DenseField, E: SumcheckField<Base = F>>(
    accelerator: &Accelerator,
    [rows, inner, columns]: [usize; 3],
    runs: u32,
) -> Result<Vec<Outcome>, Failure> {
    let weights = DenseMatrix::upload(accelerator, &bytes(rows * inner, 1), rows, inner)?;
    let numbers = DenseMatrix::upload(accelerator, &bytes(inner * columns, 2), inner, columns)?;
    let options = DenseOptions::default();
    say!("{}", weights.explain(&numbers, &options)?);
    // Sums of 32 bits, then elements.
    let (exact, first, median) = timed(runs, || Ok(weights.multiply(&numbers, &options, None)?.to_field::<F>()?))?;
    let activations = numbers.to_field::<F>()?;
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let verdict = exact.check_product::<F, _, _>(&weights, &activations, rounds::<F>(), &mut rng)?;
    let mut outcomes = vec![Outcome::new(
        format!("i8 · i8 to {}", <F as Entry>::NAME),
        exact.report(),
        (first, median),
        said(verdict.is_valid(), verdict.error_bits)?,
    )];
    let (direct, first, median) = timed(runs, || Ok(weights.multiply(&activations, &options, None)?))?;
    let same = direct.download()? == exact.download()?;
    outcomes.push(Outcome::new(
        format!("i8 · {}", <F as Entry>::NAME),
        direct.report(),
        (first, median),
        same.then(|| "the same".to_owned()).ok_or("i8 · i8 and i8 · F differ")?,
    ));
    outcomes.extend(folds::<F, E>(accelerator, &weights, (&activations, &direct), runs)?);
    Ok(outcomes)
}

/// Computes Σ over rows and columns of eq-weighted entries, uᵀ·C·v = (uᵀ·W)·(X·v), and proves it by sumcheck.
fn folds<F: DenseField, E: SumcheckField<Base = F>>(
    accelerator: &Accelerator,
    weights: &DenseMatrix<i8>,
    (activations, product): (&DenseMatrix<F>, &DenseMatrix<F>),
    runs: u32,
) -> Result<[Outcome; 2], Failure> {
    let u = DenseMatrix::upload_vector(accelerator, &eq::<F>(product.rows(), 3))?;
    let v = DenseMatrix::upload_vector(accelerator, &eq::<F>(product.columns(), 4))?;
    let ((left, right), first, median) = timed(runs, || Ok((weights.fold_rows(&u)?, activations.fold_columns(&v)?)))?;
    let folds = [left.download()?, right.download()?];
    let of_product = product.fold_columns(&v)?.download()?;
    let claimed = of_product.into_iter().zip(u.download()?).map(|(a, b)| a * b).sum();
    if folds[0].iter().zip(&folds[1]).map(|(a, b)| *a * b).sum::<F>() != claimed {
        return Err("the folds of the factors and of the product differ".into());
    }
    let made =
        Outcome::new("folds by eq".to_owned(), left.report(), (first, median), "against the product's".to_owned());
    let lifted = folds.map(|fold| fold.into_iter().map(E::from_base).collect());
    Ok([made, sumcheck(accelerator, lifted, E::from_base(claimed), runs)?])
}

/// A proof that the folds' inner product is what the layer's output says, and what its verifier has left to check: the folds' values
/// at a point.
fn sumcheck<F: SumcheckField>(
    accelerator: &Accelerator,
    folds: [Vec<F>; 2],
    claimed: F,
    runs: u32,
) -> Result<Outcome, Failure> {
    let rows = folds[0].len().next_power_of_two();
    let columns = folds.map(|mut fold| {
        fold.resize(rows, F::ZERO);
        fold
    });
    let claim = Claim::product(rows.ilog2(), &[0, 1]).with_sum(claimed);
    let (commitment, transcript) = (hash(&columns), || HashTranscript::new(b"layer"));
    let slices: Vec<&[F]> = columns.iter().map(Vec::as_slice).collect();
    let prove = || {
        let mut transcript = transcript();
        let bound = BoundTranscript::bind_commitment(&mut transcript, &commitment)?;
        Ok(prove(accelerator, &claim, Columns::host(&slices), bound, None)?)
    };
    let ((proof, report), first, median) = timed(runs, prove)?;
    let mut transcript = transcript();
    let bound = BoundTranscript::bind_commitment(&mut transcript, &commitment)?;
    let (point, finals) = verify(&claim, &proof, bound)?;
    if !columns.iter().map(|column| at(column, &point)).eq(finals) {
        return Err("the folds have other values at the last point".into());
    }
    Ok(Outcome::new(format!("sumcheck over {rows}"), Some(&report), (first, median), "verified".to_owned()))
}

/// Hashes the columns that the proof is bound to. The verifier here makes the folds of the factors, and hashes them itself.
fn hash<F: SumcheckField>(columns: &[Vec<F>]) -> [u8; 32] {
    let mut bytes = Vec::new();
    columns.iter().flatten().for_each(|element| element.write(&mut bytes));
    Sha256::digest(&bytes).into()
}

/// The value at a point of the multilinear polynomial with these values; the first variable is the highest bit of a row's number.
fn at<F: Field>(values: &[F], point: &[F]) -> F {
    let fold = |values: Vec<F>, coordinate: &F| -> Vec<F> {
        let (low, high) = values.split_at(values.len() / 2);
        low.iter().zip(high).map(|(low, high)| *low + (*high - low) * coordinate).collect()
    };
    point.iter().fold(values.to_vec(), fold)[0]
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
