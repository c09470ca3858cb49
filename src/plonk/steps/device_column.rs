//! Describes where columns are in vectors.
#![warn(clippy::arithmetic_side_effects)]

use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::{Error, Result};

/// Maximum rows of a column, 2^30: kernels number rows by 32 bits, and hash tables are twice as large.
const MAX_ROWS: usize = 1 << 30;

/// Refers to a column or polynomial on a device: as many elements as a step's columns have, from `first` on.
#[derive(Debug, Clone, Copy)]
pub struct DeviceColumn<'a, F> {
    /// The vector that it is in.
    pub vector: &'a DeviceVector<F>,
    /// Index of its first element in the vector.
    pub first: usize,
}

impl<'a, F: NttField> DeviceColumn<'a, F> {
    /// Refers to the column that starts at element `first` of `vector`.
    pub fn new(vector: &'a DeviceVector<F>, first: usize) -> Self {
        Self { vector, first }
    }

    /// Checks that it has `n` elements on the stream's device.
    pub(super) fn check(&self, stream: &Stream, step: &'static str, n: usize) -> Result<()> {
        check_place(stream, step, self.vector, StridedColumns { first: self.first, stride: 0, count: 1 }, n)
    }
}

/// Locates columns at equal distances: number k starts `first + k·stride` elements after the vector's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StridedColumns {
    /// Start of the first column.
    pub first: usize,
    /// Distance from the start of one column to the start of the next.
    pub stride: usize,
    /// Number of columns.
    pub count: usize,
}

impl StridedColumns {
    /// Returns the place of `count` columns of `n` elements that follow each other from the vector's start on.
    pub fn packed(n: usize, count: usize) -> Self {
        Self { first: 0, stride: n, count }
    }

    /// Returns the start of column `k`, or `usize::MAX` if it overflows, which is beyond any vector.
    pub fn start(&self, k: usize) -> usize {
        self.first.saturating_add(k.saturating_mul(self.stride))
    }

    /// Returns the columns at this place in `vector`.
    pub fn columns<'a, F: NttField>(&self, vector: &'a DeviceVector<F>) -> Vec<DeviceColumn<'a, F>> {
        (0..self.count).map(|k| DeviceColumn::new(vector, self.start(k))).collect()
    }

    /// Returns the number of elements from the vector's start to the end of the last column, of `n` elements; `None` if
    /// it overflows.
    pub(super) fn end(&self, n: usize) -> Option<usize> {
        let Some(last) = self.count.checked_sub(1) else { return Some(0) };
        last.checked_mul(self.stride)?.checked_add(self.first)?.checked_add(n)
    }
}

/// Counts the rows of columns, and those that the circuit uses. The others hold blinding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCounts {
    /// Binary logarithm of the number of rows n.
    pub log_n: u32,
    /// Rows that the circuit uses, below n. Grand products end in row `usable`.
    pub usable: usize,
}

impl RowCounts {
    /// Returns the number of rows; 0 if it exceeds `usize`, which every step refuses.
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

/// Checks that columns may have `n` elements.
pub(super) fn check_length(step: &'static str, n: usize) -> Result<u32> {
    match u32::try_from(n) {
        Ok(length) if (1..=MAX_ROWS).contains(&n) => Ok(length),
        _ => Err(Error::invalid(step, "length of the columns", format!("1 to {MAX_ROWS}"), n)),
    }
}

/// Checks that two numbers agree.
pub(super) fn equal(step: &'static str, what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(step, what, expected, actual)) }
}

/// Checks that columns of `n` elements lie in a vector of the stream's device.
pub(super) fn check_place<F: NttField>(
    stream: &Stream,
    step: &'static str,
    vector: &DeviceVector<F>,
    place: StridedColumns,
    n: usize,
) -> Result<()> {
    vector.read_on(stream)?;
    inside(step, vector.len(), place, n)
}

/// Checks that columns of `n` elements end within `length` elements.
pub(super) fn inside(step: &'static str, length: usize, place: StridedColumns, n: usize) -> Result<()> {
    if place.end(n).is_some_and(|end| end <= length) {
        return Ok(());
    }
    let actual = format!("{} of {n} every {} from {} on", place.count, place.stride, place.first);
    Err(Error::invalid(step, "columns", format!("within {length} elements"), actual))
}

/// Checks that columns of `n` elements, which are written, end within `length` elements and do not overlap.
pub(super) fn apart(step: &'static str, length: usize, place: StridedColumns, n: usize) -> Result<()> {
    if place.count > 1 && place.stride < n {
        return Err(Error::invalid(step, "stride of the columns", format!("at least {n}"), place.stride));
    }
    inside(step, length, place, n)
}
