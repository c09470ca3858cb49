//! A new base of an old one and changes. Touches no device.

use rayon::prelude::*;

use super::change::Change;
use crate::Result;
use crate::field::NttField;
use crate::matrix::Csr;
use crate::waiting::spread;

/// The base with changes, in order of their places, made. Rows with changes have their columns in order afterwards, each once,
/// and no zeros; others stay as they are.
pub(super) fn merge<F: NttField>(base: &Csr<F>, changes: &[Change<F>]) -> Result<Csr<F>> {
    let rows: Vec<&[Change<F>]> = changes.chunk_by(|a, b| a.row == b.row).collect();
    let merged: Vec<Vec<(usize, F)>> = spread(|| rows.par_iter().map(|changes| row(base, changes)).collect());
    let mut merged = rows.iter().map(|changes| changes[0].row).zip(merged).peekable();
    let all = (0..base.rows()).map(|row| match merged.next_if(|(number, _)| *number == row) {
        Some((_, entries)) => entries,
        None => base.row(row).collect(),
    });
    Csr::from_rows(base.columns(), all)
}

/// A row with changes made.
fn row<F: NttField>(base: &Csr<F>, changes: &[Change<F>]) -> Vec<(usize, F)> {
    let mut before: Vec<(usize, F)> = base.row(changes[0].row).collect();
    before.sort_by_key(|(column, _)| *column);
    let mut entries: Vec<(usize, F)> = Vec::with_capacity(before.len() + changes.len());
    for (column, value) in before {
        match entries.last_mut() {
            Some(last) if last.0 == column => last.1 += value,
            _ => entries.push((column, value)),
        }
    }
    for change in changes {
        match entries.binary_search_by_key(&change.column, |(column, _)| *column) {
            Ok(place) => entries[place].1 = change.action.after(entries[place].1),
            Err(place) => entries.insert(place, (change.column, change.action.after(F::ZERO))),
        }
    }
    entries.retain(|(_, value)| *value != F::ZERO);
    entries
}
