//! Describes where columns are in vectors.
#![warn(clippy::arithmetic_side_effects)]

use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::{Error, Result};

/// Maximum rows of a column, 2^30: kernels number rows by 32 bits, and hash tables of lookups are twice as large.
const MAX_ROWS: usize = 1 << 30;

/// Refers to a column or polynomial in a device vector. It starts at the element `first`. Its length is that of all
/// columns of a step.
#[derive(Debug, Clone, Copy)]
pub struct DeviceColumn<'a, F> {
    /// The vector that the column is in.
    pub vector: &'a DeviceVector<F>,
    /// Index of the column's first element in the vector.
    pub first: usize,
}

impl<'a, F: NttField> DeviceColumn<'a, F> {
    /// Refers to the column that starts at element `first` of `vector`.
    pub fn new(vector: &'a DeviceVector<F>, first: usize) -> Self {
        Self { vector, first }
    }

    /// Checks that the column has `n` elements within its vector, and that the vector is on the device of `stream`.
    pub(super) fn check(&self, stream: &Stream, step: &'static str, n: usize) -> Result<()> {
        check_place(stream, step, self.vector, StridedColumns { first: self.first, stride: 0, count: 1 }, n)
    }
}

/// Describes the place of columns at equal distances in a vector. Column k starts at the element `first + k·stride`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StridedColumns {
    /// Index of the first column's first element.
    pub first: usize,
    /// Number of elements from the start of one column to the start of the next.
    pub stride: usize,
    /// Number of columns.
    pub count: usize,
}

impl StridedColumns {
    /// Returns the place of `count` columns of `n` elements that follow each other from the vector's start on.
    pub fn packed(n: usize, count: usize) -> Self {
        Self { first: 0, stride: n, count }
    }

    /// Returns the index of the first element of column `k`. If it overflows, returns `usize::MAX`, which is beyond any
    /// vector.
    pub fn start(&self, k: usize) -> usize {
        self.first.saturating_add(k.saturating_mul(self.stride))
    }

    /// Returns the columns of `vector` that `self` locates, in order.
    pub fn columns<'a, F: NttField>(&self, vector: &'a DeviceVector<F>) -> Vec<DeviceColumn<'a, F>> {
        (0..self.count).map(|k| DeviceColumn::new(vector, self.start(k))).collect()
    }

    /// Returns the number of elements from the vector's start to the end of the last column, for columns of `n`
    /// elements. Returns 0 if there are no columns, and `None` if the number overflows.
    pub(super) fn end_index(&self, n: usize) -> Option<usize> {
        let Some(last) = self.count.checked_sub(1) else { return Some(0) };
        last.checked_mul(self.stride)?.checked_add(self.first)?.checked_add(n)
    }
}

/// Holds the number of rows of a column, and the number of rows that the circuit uses. The other rows are for blinding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCounts {
    /// Binary logarithm of the number of rows n.
    pub log_n: u32,
    /// Number of rows that the circuit uses, below n. Grand products end in row `usable`.
    pub usable: usize,
}

impl RowCounts {
    /// Returns the number of rows, n, or 0 if it exceeds `usize`. Every step refuses 0 rows.
    pub fn n(&self) -> usize {
        1usize.checked_shl(self.log_n).unwrap_or(0)
    }

    /// Returns the primitive n-th root of unity that [`crate::ntt::NttDomain::omega`] returns.
    pub fn omega<F: NttField>(&self) -> F {
        (self.log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square())
    }

    pub(super) fn check<F: NttField>(&self, step: &'static str) -> Result<()> {
        if self.log_n > F::S.min(MAX_ROWS.ilog2()) {
            let expected = format!("at most the two-adicity {}", F::S);
            return Err(Error::invalid(step, "log_n", expected, self.log_n));
        }
        match self.usable < self.n() {
            true => Ok(()),
            false => Err(Error::invalid(step, "usable rows", format!("below {}", self.n()), self.usable)),
        }
    }
}

/// Checks that `n` is a valid column length, 1 to 2^30, and returns it as a `u32`.
pub(super) fn check_length(step: &'static str, n: usize) -> Result<u32> {
    match u32::try_from(n) {
        Ok(length) if (1..=MAX_ROWS).contains(&n) => Ok(length),
        _ => Err(Error::invalid(step, "length of the columns", format!("1 to {MAX_ROWS}"), n)),
    }
}

/// Checks that the columns at `place`, of `n` elements each, are within `vector`, and that `vector` is on the device of
/// `stream`.
pub(super) fn check_place<F: NttField>(
    stream: &Stream,
    step: &'static str,
    vector: &DeviceVector<F>,
    place: StridedColumns,
    n: usize,
) -> Result<()> {
    vector.wait_before_read(stream)?;
    check_bounds(step, vector.len(), place, n)
}

/// Checks that the columns at `place`, of `n` elements each, end within `length` elements.
pub(super) fn check_bounds(step: &'static str, length: usize, place: StridedColumns, n: usize) -> Result<()> {
    if place.end_index(n).is_some_and(|end| end <= length) {
        return Ok(());
    }
    let actual = format!("{} of {n} every {} from {} on", place.count, place.stride, place.first);
    Err(Error::invalid(step, "columns", format!("within {length} elements"), actual))
}

/// Checks that the columns at `place`, of `n` elements each, end within `length` elements and do not overlap. A step
/// needs this for columns that it writes.
pub(super) fn check_disjoint(step: &'static str, length: usize, place: StridedColumns, n: usize) -> Result<()> {
    if place.count > 1 && place.stride < n {
        return Err(Error::invalid(step, "stride of the columns", format!("at least {n}"), place.stride));
    }
    check_bounds(step, length, place, n)
}
