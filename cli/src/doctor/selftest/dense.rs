//! Multiplies the matrix of entries i + k in row i and column k by its transpose.

use proofwarp::field::NttField;
use proofwarp::matrix::dense::{DenseField, DenseMatrix, DenseOptions, MatMulElement, Method};
use proofwarp::{Accelerator, Result};

use super::{Answer, report, timed};

/// Tests the product by the method that the plan chooses.
pub fn chosen<F>(accelerator: &Accelerator, log: u32) -> Result<Answer>
where
    F: NttField + DenseField + MatMulElement<F, Product = F>,
{
    test::<F>(accelerator, log, &DenseOptions::default())
}

/// Tests the product by residues, which tensor cores multiply.
pub fn by_residues<F>(accelerator: &Accelerator, log: u32) -> Result<Answer>
where
    F: NttField + DenseField + MatMulElement<F, Product = F>,
{
    test::<F>(accelerator, log, &DenseOptions::default().method(Method::Crt))
}

/// Returns whether the first device of `accelerator` has tensor cores and the kernels for them.
pub fn has_residues<F>(accelerator: &Accelerator) -> bool
where
    F: NttField + DenseField + MatMulElement<F, Product = F>,
{
    let options = DenseOptions::default().method(Method::Crt);
    let matrix = DenseMatrix::upload(accelerator, &[F::ONE], 1, 1);
    matrix.is_ok_and(|matrix| matrix.explain(&matrix, &options).is_ok())
}

/// Tests the product of 2^`log` entries by their transpose. The entry in row i and column j is the sum over k < n of
/// (i + k)·(j + k), which is n·i·j + (i + j)·n(n − 1)/2 + (n − 1)·n·(2n − 1)/6.
fn test<F>(accelerator: &Accelerator, log: u32, options: &DenseOptions) -> Result<Answer>
where
    F: NttField + DenseField + MatMulElement<F, Product = F>,
{
    let rows = 1_u64 << (log / 2);
    let n = (1_u64 << log) / rows;
    let entries: Vec<F> = (0..rows).flat_map(|i| (0..n).map(move |k| F::from(i + k))).collect();
    let a = DenseMatrix::upload(accelerator, &entries, rows as usize, n as usize)?;
    let b = a.transposed();
    let run = || {
        let product = a.multiply(&b, options, None)?;
        Ok((product.download()?, product.report().cloned()))
    };
    run()?;
    let ((entries, found), time) = timed(run)?;
    let (first, second) = (n * (n - 1) / 2, (n - 1) * n * (2 * n - 1) / 6);
    let known = (0..rows).flat_map(|i| (0..rows).map(move |j| F::from(n * i * j + (i + j) * first + second)));
    let is_right = known.eq(entries);
    Ok(Answer { report: found.unwrap_or_else(|| report(accelerator, 1 << log, time)), time, is_right })
}
