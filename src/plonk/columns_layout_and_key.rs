//! Holds columns in host memory or on a device, numbers a circuit's columns for expressions, and holds the columns that
//! a setup gives its prover.

use std::fmt;
use std::sync::Arc;

use crate::field::{DeviceVector, NttField};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Holds a column of n field elements, in host memory or on a device. They are a polynomial's values or coefficients.
/// They may be secret, so they are cleared when dropped.
///
/// Only [`super::Engine`] depends on where the elements are.
pub struct Column<F: NttField>(pub(super) ColumnStorage<F>);

/// Holds a column's elements, in host memory or on a device.
pub(super) enum ColumnStorage<F: NttField> {
    Host(SecretVec<F>),
    Device(DeviceSlice<F>),
}

/// Refers to `len` elements of a device vector, from index `first` on. Other columns may be in the same vector.
#[derive(Debug)]
pub(super) struct DeviceSlice<F> {
    pub vector: Arc<DeviceVector<F>>,
    pub first: usize,
    pub len: usize,
}

impl<F> Clone for DeviceSlice<F> {
    fn clone(&self) -> Self {
        Self { vector: self.vector.clone(), ..*self }
    }
}

impl<F: NttField> Column<F> {
    /// Creates a column of `elements` in host memory.
    pub fn new(elements: Vec<F>) -> Self {
        Self(ColumnStorage::Host(SecretVec(elements)))
    }

    /// Splits `vector` into columns of `len` elements each, without a copy. Elements after the last whole column are
    /// left out.
    pub(super) fn split_vector(vector: DeviceVector<F>, len: usize) -> Vec<Self> {
        let (count, vector) = (vector.len().checked_div(len).unwrap_or(0), Arc::new(vector));
        let column = |k| Self(ColumnStorage::Device(DeviceSlice { vector: vector.clone(), first: k * len, len }));
        (0..count).map(column).collect()
    }

    /// Returns the column's elements for writing, or an error if they are not in host memory.
    pub(super) fn host_mut(&mut self) -> Result<&mut [F]> {
        match &mut self.0 {
            ColumnStorage::Host(elements) => Ok(elements),
            ColumnStorage::Device(_) => Err(Error::internal("plonk")),
        }
    }

    /// Returns another column of the same elements, without a copy. A change of one, such as
    /// [`AdviceStage::commit_resident`](super::AdviceStage::commit_resident) makes in blinding rows, is one of both.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the elements are in host memory.
    pub fn share(&self) -> Result<Self> {
        match &self.0 {
            ColumnStorage::Device(resident) => Ok(Self(ColumnStorage::Device(resident.clone()))),
            ColumnStorage::Host(_) => Err(Error::invalid("plonk", "column", "on a device", "in host memory")),
        }
    }

    /// Returns a view of the column, for reading.
    pub fn view(&self) -> ColumnView<'_, F> {
        ColumnView(match &self.0 {
            ColumnStorage::Host(elements) => ViewStorage::Host(elements),
            ColumnStorage::Device(resident) => ViewStorage::Device(resident),
        })
    }
}

impl<F: NttField> fmt::Debug for Column<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

/// Borrows a column for reading, in host memory or on a device.
pub struct ColumnView<'a, F>(pub(super) ViewStorage<'a, F>);

/// Borrows a column's elements, in host memory or on a device.
pub(super) enum ViewStorage<'a, F> {
    Host(&'a [F]),
    Device(&'a DeviceSlice<F>),
}

impl<F> Clone for ColumnView<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for ColumnView<'_, F> {}

impl<F> Clone for ViewStorage<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for ViewStorage<'_, F> {}

impl<F> fmt::Debug for ColumnView<'_, F> {
    /// Formats only the length: the elements may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'a, F> ColumnView<'a, F> {
    /// Creates a view of `elements`, a column in host memory.
    pub fn new(elements: &'a [F]) -> Self {
        Self(ViewStorage::Host(elements))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self.0 {
            ViewStorage::Host(elements) => elements.len(),
            ViewStorage::Device(resident) => resident.len,
        }
    }

    /// Returns whether the column has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Identifies a column of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColumnId {
    /// Fixed column of the key, the same in every proof, by its index among the fixed columns.
    Fixed(usize),
    /// σ of a permutation column, by that column's index in the permutation.
    Sigma(usize),
    /// Column that is 1 in row 0, 0 in other rows.
    First,
    /// Column that is 1 in the row after the last usable one, where grand products end, 0 in other rows.
    Last,
    /// Column that is 1 in usable rows, 0 in other rows.
    Active,
    /// Advice column, by its index among the advice columns.
    Advice(usize),
    /// Instance column, by its index among the instance columns.
    Instance(usize),
    /// Grand product of a permutation set, by the set's index.
    Set(usize),
    /// Grand product of a lookup, by the lookup's index.
    Lookup(usize),
    /// A lookup's permuted input A', with equal values next to each other.
    Input(usize),
    /// A lookup's permuted table S', in the order that A' needs.
    Table(usize),
}

impl fmt::Display for ColumnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(i) => write!(f, "fixed column {i}"),
            Self::Sigma(i) => write!(f, "permutation polynomial {i}"),
            Self::First => f.write_str("the column of the first row"),
            Self::Last => f.write_str("the column of the last row"),
            Self::Active => f.write_str("the column of usable rows"),
            Self::Advice(i) => write!(f, "advice column {i}"),
            Self::Instance(i) => write!(f, "instance column {i}"),
            Self::Set(i) => write!(f, "product of permutation set {i}"),
            Self::Lookup(i) => write!(f, "product of lookup {i}"),
            Self::Input(i) => write!(f, "permuted input of lookup {i}"),
            Self::Table(i) => write!(f, "permuted table of lookup {i}"),
        }
    }
}

/// Holds the number of columns of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnLayout {
    /// Fixed columns, selectors included.
    pub fixed: usize,
    /// Columns in the permutation argument.
    pub permuted: usize,
    /// Advice columns.
    pub advice: usize,
    /// Instance columns.
    pub instances: usize,
    /// Permutation sets: groups of permutation columns, each with one grand product.
    pub sets: usize,
    /// Lookups.
    pub lookups: usize,
}

impl fmt::Display for ColumnLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fixed, permuted, advice, instances, sets, lookups } = self;
        write!(f, "{fixed} fixed, {advice} advice and {instances} instance columns, ")?;
        write!(f, "{permuted} permuted in {sets} sets, {lookups} lookups")
    }
}

impl ColumnLayout {
    /// Returns the number by which expressions refer to the column `name`, counted from 0.
    pub fn column_number(&self, name: ColumnId) -> usize {
        let own = self.shared_column_count();
        let sets = own + self.advice + self.instances;
        let lookups = sets + self.sets;
        match name {
            ColumnId::Fixed(i) => i,
            ColumnId::Sigma(i) => self.fixed + i,
            ColumnId::First => self.fixed + self.permuted,
            ColumnId::Last => self.fixed + self.permuted + 1,
            ColumnId::Active => self.fixed + self.permuted + 2,
            ColumnId::Advice(i) => own + i,
            ColumnId::Instance(i) => own + self.advice + i,
            ColumnId::Set(i) => sets + i,
            ColumnId::Lookup(i) => lookups + i,
            ColumnId::Input(i) => lookups + self.lookups + i,
            ColumnId::Table(i) => lookups + 2 * self.lookups + i,
        }
    }

    /// Returns the number of the key's columns, which all circuits of a proof share. They have the lowest column
    /// numbers.
    pub fn shared_column_count(&self) -> usize {
        self.fixed + self.permuted + 3
    }

    /// Returns the layout with each count limited to `most`.
    pub(super) fn clamp_counts(self, most: usize) -> Self {
        let Self { fixed, permuted, advice, instances, sets, lookups } = self;
        let [fixed, permuted, advice, instances, sets, lookups] =
            [fixed, permuted, advice, instances, sets, lookups].map(|count| count.min(most));
        Self { fixed, permuted, advice, instances, sets, lookups }
    }

    /// Returns the number of columns of one circuit, those of the key included, or `None` if it is not below 2^32.
    pub(super) fn checked_column_count(&self) -> Option<u32> {
        let Self { fixed, permuted, advice, instances, sets, lookups } = *self;
        let counts = [fixed, permuted, 3, advice, instances, sets, lookups, lookups, lookups];
        counts.into_iter().try_fold(0_u32, |sum, count| sum.checked_add(u32::try_from(count).ok()?))
    }

    /// Returns the number of columns of one circuit, those of the key included.
    pub fn column_count(&self) -> usize {
        self.column_number(ColumnId::Table(self.lookups))
    }
}

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
    /// Returns the coefficients of all columns of the key, in the order of their numbers ([`ColumnLayout::column_number`]).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_gaps() {
        let layout = ColumnLayout { fixed: 2, permuted: 3, advice: 4, instances: 1, sets: 2, lookups: 2 };
        let few = |name: fn(usize) -> ColumnId, count: usize| (0..count).map(name).collect::<Vec<_>>();
        let names = [
            few(ColumnId::Fixed, 2),
            few(ColumnId::Sigma, 3),
            vec![ColumnId::First, ColumnId::Last, ColumnId::Active],
            few(ColumnId::Advice, 4),
            few(ColumnId::Instance, 1),
            few(ColumnId::Set, 2),
            few(ColumnId::Lookup, 2),
            few(ColumnId::Input, 2),
            few(ColumnId::Table, 2),
        ]
        .concat();
        let numbers: Vec<_> = names.iter().map(|name| layout.column_number(*name)).collect();
        assert_eq!(numbers, (0..layout.column_count()).collect::<Vec<_>>());
        assert_eq!(layout.column_number(ColumnId::Advice(0)), layout.shared_column_count());
    }
}
