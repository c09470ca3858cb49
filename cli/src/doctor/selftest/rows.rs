//! Tests sparse products, of matrices that stay and that change, and expressions, row by row over 0, 1, 2 …

use proofwarp::expression::{Coset, Expression, Program};
use proofwarp::field::NttField;
use proofwarp::matrix::dynamic::{DynamicCsr, Policy};
use proofwarp::matrix::{Csr, SparseMatrix};
use proofwarp::{Accelerator, Result};

use super::{Answer, counted, timed};

/// Tests the product of a sparse matrix and the vector xᵢ = i. Row i gives 3·xᵢ − xⱼ for j = i + 1 modulo the length.
/// This is 2i − 1, except in the last row.
pub fn csr<F: NttField>(accelerator: &Accelerator, log: u32) -> Result<Answer> {
    let n = 1_usize << log;
    let matrix = SparseMatrix::new(accelerator, cyclic(n)?)?;
    let (x, mut y) = (counted::<F>(n), vec![F::ZERO; n]);
    matrix.multiply(&x, &mut y, None)?;
    let (report, time) = timed(|| matrix.multiply(&x, &mut y, None))?;
    let last = F::from(3) * x[n - 1];
    let known = |i: usize| if i + 1 == n { last } else { x[i] + x[i] - F::ONE };
    let is_right = y.iter().enumerate().all(|(i, y)| *y == known(i));
    Ok(Answer { report, time, is_right })
}

/// Tests the product of the matrix of [`csr`], whose row 0 has changed since: 7 in column 2, and nothing in column 1.
/// Row 0 then gives 3·x₀ + 7·x₂, which is 14. `log` is 2 at least.
pub fn changed<F: NttField>(accelerator: &Accelerator, log: u32) -> Result<Answer> {
    let n = 1_usize << log;
    let matrix = DynamicCsr::new(accelerator, cyclic(n)?, Policy::default())?;
    matrix.set(0, 2, F::from(7))?;
    matrix.remove(0, 1)?;
    let snapshot = matrix.snapshot()?;
    let (x, mut y) = (counted::<F>(n), vec![F::ZERO; n]);
    snapshot.multiply(&x, &mut y, None)?;
    let (report, time) = timed(|| snapshot.multiply(&x, &mut y, None))?;
    let known = |i: usize| match i {
        0 => F::from(14),
        i if i + 1 == n => F::from(3) * x[n - 1],
        i => x[i] + x[i] - F::ONE,
    };
    let is_right = y.iter().enumerate().all(|(i, y)| *y == known(i));
    Ok(Answer { report, time, is_right })
}

/// Returns the matrix of `n` rows that has 3 on the diagonal and −1 in the next column, after the last in the first.
fn cyclic<F: NttField>(n: usize) -> Result<Csr<F>> {
    Csr::from_rows(n, (0..n).map(|i| [(i, F::from(3)), ((i + 1) % n, -F::ONE)]))
}

/// Tests the expression a·b − a(ωX) for the columns aᵢ = i and bᵢ = i + 1. Row i gives i² − 1, except in the last row.
pub fn expression<F: NttField>(accelerator: &Accelerator, log: u32) -> Result<Answer> {
    let n = 1_usize << log;
    let column = |column, rotation| Expression::<F>::column(column, rotation);
    let program = Program::lower_vectors(&[column(0, 0) * column(1, 0) - column(0, 1)], 0);
    let a = counted::<F>(n);
    let b: Vec<F> = a.iter().map(|a| *a + F::ONE).collect();
    let mut output = vec![F::ZERO; n];
    let coset = Coset { log_n: log, shift: F::ONE };
    let mut run = || program.run(accelerator, &[&a, &b], &[], coset, &mut [&mut output], None);
    run()?;
    let (report, time) = timed(run)?;
    let known = |i: usize| if i + 1 == n { a[i] * b[i] } else { a[i].square() - F::ONE };
    let is_right = output.iter().enumerate().all(|(i, value)| *value == known(i));
    Ok(Answer { report, time, is_right })
}
