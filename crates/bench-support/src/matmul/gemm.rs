//! Dense products by every way that is asked for.

use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Entry, MatMulElement, Method};
use proofwarp::{Accelerator, BackendKind};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::outcome::Outcome;
use super::rounds;
use crate::Failure;
use crate::inputs::{bytes, elements};
use crate::timing::timed;

/// Its name, where, and with which options.
type Way = (&'static str, Accelerator, DenseOptions);

/// Elements times elements, bytes times elements, bytes times bytes, and a product with a vector.
///
/// # Errors
/// A product fails, or its check does.
pub fn measure<F: DenseField>(
    accelerator: &Accelerator,
    size: usize,
    compare: bool,
    runs: u32,
) -> Result<Vec<Outcome>, Failure> {
    let (a, b, small) = (elements::<F>(size * size, 1), elements::<F>(size * size, 2), bytes(size * size, 3));
    let mut outcomes = Vec::new();
    for way in ways(accelerator, compare)? {
        outcomes.extend(product::<F, F, F>(&way, (&a, &b), size, runs)?);
        outcomes.extend(product::<i8, F, F>(&way, (&small, &b), size, runs)?);
        if way.2.method.is_none() {
            outcomes.extend(product::<i8, i8, F>(&way, (&small, &small), size, runs)?);
            outcomes.push(vector(&way, (&a, &b[..size]), size, runs)?);
        }
    }
    Ok(outcomes)
}

fn ways(accelerator: &Accelerator, compare: bool) -> Result<Vec<Way>, Failure> {
    let chosen = DenseOptions::default();
    let mut ways = vec![("chosen", accelerator.clone(), chosen)];
    if accelerator.devices().len() > 1 {
        ways.push(("one device", accelerator.clone(), chosen.devices(1)));
    }
    if compare {
        for (name, method) in [("crt", Method::Crt), ("lazy", Method::Lazy), ("montgomery", Method::Montgomery)] {
            ways.push((name, accelerator.clone(), chosen.method(method)));
        }
        if !accelerator.devices().is_empty() {
            ways.push(("cpu", Accelerator::with_backend(BackendKind::Cpu)?, chosen));
        }
    }
    Ok(ways)
}

/// Checked over F. Nothing where the method that is asked for is not there: that is printed.
fn product<A, B, F>(
    (name, accelerator, options): &Way,
    (a, b): (&[A], &[B]),
    size: usize,
    runs: u32,
) -> Result<Option<Outcome>, Failure>
where
    A: MatMulElement<B, Product: MatMulElement<F, Product = F>> + MatMulElement<F, Product = F>,
    B: MatMulElement<F, Product = F>,
    F: DenseField,
{
    let (a, b) = (DenseMatrix::upload(accelerator, a, size, size)?, DenseMatrix::upload(accelerator, b, size, size)?);
    let explanation = match a.explain(&b, options) {
        Ok(explanation) => explanation,
        Err(error) => {
            say!("left out: {name}, {} times {}: {error}", A::NAME, B::NAME);
            return Ok(None);
        }
    };
    say!("{name}: {explanation}");
    let (c, first, median) = timed(runs, || Ok(a.multiply(&b, options, None)?))?;
    let verdict = c.check_product::<F, A, B>(&a, &b, rounds::<F>(), &mut ChaCha8Rng::seed_from_u64(9))?;
    if let Some(row) = verdict.wrong_row {
        return Err(format!("{name}: row {row} of the product is wrong").into());
    }
    let way = format!("{name}: {} · {} by {}", A::NAME, B::NAME, explanation.method);
    Ok(Some(Outcome::new(way, c.report(), (first, median), format!("Freivalds, 2^-{}", verdict.error_bits))))
}

fn vector<F: DenseField>(way: &Way, (a, x): (&[F], &[F]), size: usize, runs: u32) -> Result<Outcome, Failure> {
    let (matrix, vector) = (DenseMatrix::upload(&way.1, a, size, size)?, DenseMatrix::upload_vector(&way.1, x)?);
    let (y, first, median) = timed(runs, || Ok(matrix.times_vector(&vector)?))?;
    let row = |row: &[F]| row.iter().zip(x).map(|(a, x)| *a * x).sum::<F>();
    if !y.download()?.into_iter().eq(a.chunks(size).map(row)) {
        return Err("the product with a vector is wrong".into());
    }
    Ok(Outcome::new(
        format!("{}: {} times a vector", way.0, <F as Entry>::NAME),
        y.report(),
        (first, median),
        "all rows".to_owned(),
    ))
}
