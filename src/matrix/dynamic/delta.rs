//! Computes the differences that changes make to a base, row by row.

use super::change::Change;
use crate::field::{NttField, SecretVec};
use crate::matrix::Csr;

/// Holds the differences between a changed matrix and its base, in compressed rows. Rows without changes are left out.
pub(super) struct Delta<F: NttField> {
    pub rows: Vec<u32>,
    /// Index of the first difference of each row, then the number of all differences.
    pub starts: Vec<u32>,
    pub columns: Vec<u32>,
    pub values: SecretVec<F>,
}

impl<F: NttField> Delta<F> {
    /// Computes by how much `changes`, which are sorted by (row, column), alter the entries of `base`.
    pub fn new(base: &Csr<F>, changes: &[Change<F>]) -> Self {
        let mut delta = Self {
            rows: Vec::new(),
            starts: vec![0],
            columns: Vec::with_capacity(changes.len()),
            values: SecretVec(Vec::with_capacity(changes.len())),
        };
        for row in changes.chunk_by(|a, b| a.row == b.row) {
            for change in row {
                let before = entry_value(base, change.row, change.column);
                delta.columns.push(change.column as u32);
                delta.values.0.push(change.action.apply(before) - before);
            }
            delta.rows.push(row[0].row as u32);
            delta.starts.push(delta.columns.len() as u32);
        }
        delta
    }

    /// Adds the product D·x of these differences D to `y`.
    pub fn add_product(&self, x: &[F], y: &mut [F]) {
        for (number, row) in self.rows.iter().enumerate() {
            let range = self.starts[number] as usize..self.starts[number + 1] as usize;
            let products = range.map(|k| self.values[k] * x[self.columns[k] as usize]);
            y[*row as usize] += products.sum::<F>();
        }
    }
}

/// Returns entry (`row`, `column`) of `csr`: the sum of its coefficients if the column occurs more than once, or 0 if
/// it does not occur.
fn entry_value<F: NttField>(csr: &Csr<F>, row: usize, column: usize) -> F {
    csr.row(row).filter(|(other, _)| *other == column).map(|(_, value)| value).sum()
}
