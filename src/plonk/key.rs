//! Holds the columns that a circuit's setup gives its prover.

use super::column_storage::ColumnView;
use super::layout::{ColumnId, ColumnLayout};
use crate::{Error, Result};

/// Borrows a polynomial's values and its coefficients.
#[derive(Debug, Clone, Copy)]
pub struct Polynomial<'a, F> {
    /// Values on the subgroup of order n.
    pub values: ColumnView<'a, F>,
    /// The n coefficients, lowest first.
    pub coefficients: ColumnView<'a, F>,
}

/// Borrows the columns of a circuit's proving key from their owner.
#[derive(Debug, Clone)]
pub struct Key<'a, F> {
    /// Fixed columns, selectors included.
    pub fixed: Vec<Polynomial<'a, F>>,
    /// σ of each permutation column: δ^c·ω^r in row i, where (c, r) is the cell to which the permutation maps the
    /// column's cell i.
    pub sigma: Vec<Polynomial<'a, F>>,
    /// Coefficients of the column that is 1 in row 0.
    pub first: ColumnView<'a, F>,
    /// Coefficients of the column that is 1 in the row where grand products end.
    pub last: ColumnView<'a, F>,
    /// Coefficients of the column that is 1 in usable rows.
    pub active: ColumnView<'a, F>,
}

impl<'a, F> Key<'a, F> {
    /// Returns the coefficients of all columns of the key, in the order of their numbers ([`ColumnLayout::number`]).
    pub(super) fn coefficients(&self) -> Vec<ColumnView<'a, F>> {
        let columns = self.fixed.iter().chain(&self.sigma).map(|polynomial| polynomial.coefficients);
        columns.chain([self.first, self.last, self.active]).collect()
    }

    /// Returns the values of all columns of the key, in the order of their numbers. The columns of first, last and
    /// active rows are empty, because a key lacks their values.
    pub(super) fn values(&self) -> Vec<ColumnView<'a, F>> {
        let columns = self.fixed.iter().chain(&self.sigma).map(|polynomial| polynomial.values);
        columns.chain([ColumnView::new(&[]); 3]).collect()
    }

    /// Checks that the key has the columns of `layout`, of `rows` rows each.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the numbers of fixed columns or σ are not those of `layout`.
    /// - [`Error::Invalid`]: a column does not have `rows` rows.
    pub(super) fn check_layout(&self, layout: &ColumnLayout, rows: usize) -> Result<()> {
        let actual = (self.fixed.len(), self.sigma.len());
        if actual != (layout.fixed, layout.permuted) {
            let text = |(fixed, sigma): (usize, usize)| format!("{fixed} fixed columns and {sigma} σ");
            let expected = text((layout.fixed, layout.permuted));
            return Err(Error::invalid("plonk key", "columns", expected, text(actual)));
        }
        debug_assert_eq!(self.coefficients().len(), layout.column_number(ColumnId::Advice(0)));
        let values = self.fixed.iter().chain(&self.sigma).map(|polynomial| polynomial.values);
        match self.coefficients().into_iter().chain(values).find(|column| column.len() != rows) {
            Some(column) => Err(Error::invalid("plonk key", "rows of a column", rows, column.len())),
            None => Ok(()),
        }
    }
}
