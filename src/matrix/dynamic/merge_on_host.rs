//! Merges a matrix and changes into a new matrix, row by row. Touches no device.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::change_and_delta::Change;
use crate::Result;
use crate::field::NttField;
use crate::matrix::Csr;
use crate::rayon_waits::install;

/// Maximum number of rows that a parallel task takes.
const ROWS: usize = 256;

/// Collects consecutive rows of a new matrix in compressed form.
#[derive(Default)]
struct RowsBuilder<F> {
    lengths: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<F>,
}

/// Returns `base` with `changes` applied, which are sorted by (row, column). Entries that become zero are removed. In
/// each row of `base` and of the result, columns are in ascending order without repetition.
pub(super) fn merge<F: NttField>(base: &Csr<F>, changes: &[Change<F>]) -> Result<Csr<F>> {
    build_rows_parallel(base, |rows| {
        let before = |row: usize| changes.partition_point(|change| change.row < row);
        let (mut merged, mut changes) = (RowsBuilder::default(), &changes[before(rows.start)..before(rows.end)]);
        for row in rows {
            let (mine, later) = changes.split_at(changes.iter().take_while(|change| change.row == row).count());
            changes = later;
            merged.push(base.row(row), mine);
        }
        merged
    })
}

/// Returns `csr` with sorted columns in each row, where coefficients of a repeated column are added up. Returns `csr`
/// itself if that changes nothing.
pub(super) fn canonicalize<F: NttField>(csr: Arc<Csr<F>>) -> Result<Arc<Csr<F>>> {
    let pointers = csr.row_pointers();
    let columns = |row: &[u32]| csr.column_indices()[row[0] as usize..row[1] as usize].is_sorted_by(|a, b| a < b);
    if install(|| pointers.par_windows(2).all(columns)) {
        return Ok(csr);
    }
    let made = build_rows_parallel(&csr, |rows| {
        let mut made = RowsBuilder::default();
        for row in rows {
            let mut entries: Vec<(usize, F)> = csr.row(row).collect();
            entries.sort_by_key(|(column, _)| *column);
            entries.dedup_by(|next, entry| {
                let same = next.0 == entry.0;
                if same {
                    entry.1 += next.1;
                }
                same
            });
            made.push(entries.into_iter(), &[]);
        }
        made
    });
    made.map(Arc::new)
}

/// Builds a matrix with the shape of `like` from the rows that `make` returns for a range of rows. Ranges of [`ROWS`]
/// rows run in parallel.
fn build_rows_parallel<F: NttField>(
    like: &Csr<F>,
    make: impl Fn(Range<usize>) -> RowsBuilder<F> + Sync,
) -> Result<Csr<F>> {
    let rows = like.rows();
    let part = |first: usize| make(first..(first + ROWS).min(rows));
    let parts: Vec<RowsBuilder<F>> = install(|| (0..rows).into_par_iter().step_by(ROWS).map(part).collect());
    let (mut row_pointers, mut end) = (vec![0], 0u32);
    for length in parts.iter().flat_map(|part| &part.lengths) {
        end = end.saturating_add(*length);
        row_pointers.push(end);
    }
    let columns = parts.iter().flat_map(|part| &part.columns).copied().collect();
    let values = parts.iter().map(|part| &part.values[..]).collect::<Vec<_>>().concat();
    Csr::with_dense_dictionary(like.columns(), row_pointers, columns, &values)
}

impl<F: NttField> RowsBuilder<F> {
    /// Appends the row `before` with `changes` applied. Both are sorted by column.
    fn push(&mut self, before: impl Iterator<Item = (usize, F)>, changes: &[Change<F>]) {
        let (start, mut changes) = (self.columns.len(), changes.iter().peekable());
        for (column, value) in before {
            while let Some(change) = changes.next_if(|change| change.column < column) {
                self.push_entry(change.column, change.action.apply(F::ZERO), true);
            }
            match changes.next_if(|change| change.column == column) {
                Some(change) => self.push_entry(column, change.action.apply(value), true),
                None => self.push_entry(column, value, false),
            }
        }
        changes.for_each(|change| self.push_entry(change.column, change.action.apply(F::ZERO), true));
        self.lengths.push((self.columns.len() - start) as u32);
    }

    fn push_entry(&mut self, column: usize, value: F, changed: bool) {
        if !changed || value != F::ZERO {
            self.columns.push(column as u32);
            self.values.push(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use halo2curves::bn256::Fr;

    use super::*;
    use crate::matrix::dynamic::change_and_delta::Action;

    #[test]
    fn rows_are_put_in_order() {
        let number = Fr::from;
        let rows = [vec![(3, number(1)), (1, number(2)), (3, number(4))], vec![], vec![(0, number(7)), (2, number(8))]];
        let csr = canonicalize(Arc::new(Csr::from_rows(4, rows).expect("a matrix"))).expect("in order");
        let row = |csr: &Csr<Fr>, row: usize| csr.row(row).collect::<Vec<_>>();
        assert_eq!(row(&csr, 0), [(1, number(2)), (3, number(5))]);
        let same = canonicalize(csr.clone()).expect("in order");
        assert!(Arc::ptr_eq(&csr, &same));
        let change = |row, column, action| Change { row, column, action };
        let changes = [
            change(0, 0, Action::Add(number(9))),
            change(0, 1, Action::Set(Fr::zero())),
            change(1, 2, Action::Add(Fr::zero())),
            change(2, 2, Action::Add(number(1))),
            change(2, 3, Action::Set(number(6))),
        ];
        let merged = merge(&csr, &changes).expect("merged");
        assert_eq!(row(&merged, 0), [(0, number(9)), (3, number(5))]);
        assert_eq!(row(&merged, 1), []);
        assert_eq!(row(&merged, 2), [(0, number(7)), (2, number(9)), (3, number(6))]);
    }
}
