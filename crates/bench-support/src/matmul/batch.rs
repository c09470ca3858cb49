//! Small products: one call each, and all in one.

use proofwarp::Accelerator;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, Entry};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::outcome::Outcome;
use super::rounds;
use crate::Failure;
use crate::inputs::elements;
use crate::timing::timed;

/// So many products of square matrices.
///
/// # Errors
/// A product fails, or its check does.
pub fn measure<F: DenseField>(
    accelerator: &Accelerator,
    size: usize,
    count: usize,
    runs: u32,
) -> Result<Vec<Outcome>, Failure> {
    let entries = elements::<F>(2 * count * size * size, 1);
    let upload = |entries: &[F]| DenseMatrix::upload(accelerator, entries, size, size);
    let matrices = entries.chunks(size * size).map(upload).collect::<Result<Vec<_>, _>>()?;
    let pairs: Vec<_> = matrices.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    let options = DenseOptions::default();
    let one_by_one = || {
        let products = pairs.iter().map(|(a, b)| a.multiply(b, &options, None));
        Ok(products.collect::<Result<Vec<_>, _>>()?)
    };
    let apart = timed(runs, one_by_one)?;
    let together = timed(runs, || Ok(DenseMatrix::multiply_batch(&pairs, &options, None)?))?;
    let mut outcomes = Vec::new();
    for (name, (products, first, median)) in [("a call each", apart), ("one call", together)] {
        for ((a, b), c) in pairs.iter().zip(&products) {
            let verdict = c.check_product::<F, _, _>(a, b, rounds::<F>(), &mut ChaCha8Rng::seed_from_u64(9))?;
            if !verdict.is_valid() {
                return Err(format!("{name}: a product is wrong").into());
            }
        }
        let report = products.last().and_then(|product| product.report());
        let launches = report.map_or(0, |report| report.traffic.launches);
        let way = format!("{count} products of {}, {name}, the last of {launches} launches", <F as Entry>::NAME);
        outcomes.push(Outcome::new(way, report, (first, median), "Freivalds, all".to_owned()));
    }
    Ok(outcomes)
}
