//! Holds columns in host memory or on a device.

use std::fmt;
use std::sync::Arc;

use crate::field::{DeviceVector, NttField, SecretVec};
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
