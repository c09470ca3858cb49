//! Defines changes, combines several of one entry, and computes the differences that changes make to a base, row by
//! row.

use std::fmt;

use crate::field::NttField;
use crate::matrix::Csr;
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Names this module in errors.
pub(super) const ERROR_CONTEXT: &str = "dynamic csr";

/// Selects how an entry changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Action<F> {
    /// Sets the entry to this value. Zero removes it at the next merge.
    Set(F),
    /// Adds this value to the entry.
    Add(F),
}

impl<F> fmt::Debug for Action<F> {
    /// Writes the kind of action without its value, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Set(_) => "Set(_)",
            Self::Add(_) => "Add(_)",
        })
    }
}

/// Describes a change of one entry of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<F> {
    /// Row of the entry, from 0.
    pub row: usize,
    /// Column of the entry, from 0.
    pub column: usize,
    /// How the entry changes.
    pub action: Action<F>,
}

impl<F: NttField> Action<F> {
    /// Returns one action with the effect of `self` followed by `later`.
    pub(super) fn compose(self, later: Self) -> Self {
        match (self, later) {
            (_, Self::Set(value)) => Self::Set(value),
            (Self::Set(value), Self::Add(more)) => Self::Set(value + more),
            (Self::Add(value), Self::Add(more)) => Self::Add(value + more),
        }
    }

    /// Returns the value that an entry of value `before` has after this action.
    pub(super) fn apply(self, before: F) -> F {
        match self {
            Self::Set(value) => value,
            Self::Add(value) => before + value,
        }
    }
}

impl<F> Change<F> {
    /// Returns the key by which changes are sorted: (row, column).
    pub(super) fn key(&self) -> (usize, usize) {
        (self.row, self.column)
    }

    /// Checks that the entry exists in a matrix of `rows` rows and `columns` columns.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such entry.
    pub(super) fn check(&self, rows: usize, columns: usize) -> Result<()> {
        for (what, number, there) in [("row", self.row, rows), ("column", self.column, columns)] {
            if number >= there {
                return Err(Error::invalid(ERROR_CONTEXT, what, format!("below {there}"), number));
            }
        }
        Ok(())
    }
}

/// Merges the changes `later` into `sorted`, which they follow in time, and composes changes of the same entry. Returns
/// changes sorted by (row, column), one per entry.
pub(super) fn combine<F: NttField>(sorted: &[Change<F>], mut later: Vec<Change<F>>) -> Vec<Change<F>> {
    // The sort is stable, so changes of the same entry keep their order.
    later.sort_by_key(Change::key);
    let (mut combined, mut earlier) = (Vec::with_capacity(sorted.len() + later.len()), sorted.iter().peekable());
    for change in later {
        while let Some(before) = earlier.next_if(|before| before.key() <= change.key()) {
            combined.push(*before);
        }
        push_composed(&mut combined, change);
    }
    combined.extend(earlier);
    combined
}

fn push_composed<F: NttField>(combined: &mut Vec<Change<F>>, change: Change<F>) {
    match combined.last_mut() {
        Some(last) if last.key() == change.key() => last.action = last.action.compose(change.action),
        _ => combined.push(change),
    }
}

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
    pub(super) fn new(base: &Csr<F>, changes: &[Change<F>]) -> Self {
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
    pub(super) fn add_product(&self, x: &[F], y: &mut [F]) {
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

#[cfg(test)]
mod tests {
    use halo2curves::bn256::Fr;

    use super::*;

    #[test]
    fn later_changes_win_or_add() {
        let change = |row, column, action| Change { row, column, action };
        let [one, two] = [1, 2].map(Fr::from);
        let first = combine(&[], vec![change(1, 0, Action::Add(one)), change(0, 3, Action::Set(two))]);
        assert_eq!(first, [change(0, 3, Action::Set(two)), change(1, 0, Action::Add(one))]);
        let later = vec![
            change(1, 0, Action::Add(one)),
            change(0, 3, Action::Add(one)),
            change(0, 2, Action::Set(one)),
            change(1, 0, Action::Add(two)),
            change(1, 5, Action::Add(two)),
            change(1, 5, Action::Set(one)),
        ];
        let expected = [
            change(0, 2, Action::Set(one)),
            change(0, 3, Action::Set(Fr::from(3))),
            change(1, 0, Action::Add(Fr::from(4))),
            change(1, 5, Action::Set(one)),
        ];
        assert_eq!(combine(&first, later), expected);
    }
}
