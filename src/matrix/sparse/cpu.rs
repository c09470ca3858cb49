//! Computes products on the host's cores, cut into tasks by non-zeros.

use rayon::prelude::*;

use super::csr::Csr;
use crate::exec::ExecCtx;
use crate::field::NttField;
use crate::kernels::csr::{CSR_MINUS_ONE, CSR_PLUS_ONE};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Maximum number of non-zeros, and of rows, per parallel task, which takes about 0.1 ms.
const PIECE: usize = 1 << 13;

/// Computes A·x for each vector of `x`, into the slice of `y` with the same index. Writes `y` only after all results
/// are complete.
pub(in crate::matrix) fn multiply<F: NttField>(
    csr: &Csr<F>,
    x: &[&[F]],
    y: &mut [&mut [F]],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    csr.check_unchanged()?;
    let results = x.iter().map(|x| product(csr, x, ctx)).collect::<Result<Vec<_>>>()?;
    csr.check_unchanged()?;
    ctx.check_abort()?;
    y.iter_mut().zip(results).for_each(|(y, result)| y.copy_from_slice(&result));
    Ok(())
}

fn product<F: NttField>(csr: &Csr<F>, x: &[F], ctx: ExecCtx<'_>) -> Result<SecretVec<F>> {
    let mut y = SecretVec(vec![F::ZERO; csr.rows()]);
    let mut pieces = Vec::new();
    let (mut rest, mut first) = (y.0.as_mut_slice(), 0);
    while !rest.is_empty() {
        let (piece, others) = rest.split_at_mut(rows_per_task(csr.row_pointers(), first));
        rest = others;
        first += piece.len();
        pieces.push((first - piece.len(), piece));
    }
    pieces.into_par_iter().try_for_each(|(first, piece)| {
        ctx.check_abort()?;
        piece.iter_mut().zip(first..).for_each(|(sum, row)| *sum = row_dot_product(csr, row, x));
        Ok::<_, Error>(())
    })?;
    Ok(y)
}

/// Returns the number of rows, at least one, of the task that starts at row `first`.
fn rows_per_task(row_pointers: &[u32], first: usize) -> usize {
    let start = row_pointers[first] as usize;
    let near = &row_pointers[first + 1..row_pointers.len().min(first + 1 + PIECE)];
    near.partition_point(|end| *end as usize - start <= PIECE).max(1)
}

/// Returns the product of one row of `csr` and the vector `x`. A long row is split into parallel tasks.
fn row_dot_product<F: NttField>(csr: &Csr<F>, row: usize, x: &[F]) -> F {
    let range = csr.nonzero_range(row);
    let (columns, indices) = (&csr.column_indices()[range.clone()], &csr.coefficient_indices()[range]);
    if columns.len() <= PIECE {
        return sparse_dot_product(csr.dictionary(), columns, indices, x);
    }
    let pieces = columns.par_chunks(PIECE).zip(indices.par_chunks(PIECE));
    pieces.map(|(columns, indices)| sparse_dot_product(csr.dictionary(), columns, indices, x)).sum()
}

fn sparse_dot_product<F: NttField>(dictionary: &[F], columns: &[u32], indices: &[u32], x: &[F]) -> F {
    columns.iter().zip(indices).fold(F::ZERO, |sum, (column, index)| {
        let value = x[*column as usize];
        match *index {
            CSR_PLUS_ONE => sum + value,
            CSR_MINUS_ONE => sum - value,
            // Most of a witness is zeros.
            _ if value == F::ZERO => sum,
            index => sum + value * dictionary[index as usize],
        }
    })
}
