//! Columns, wherever they lie.

use std::fmt;
use std::sync::Arc;

use crate::field::{DeviceVector, NttField, SecretVec};
use crate::{Error, Result};

/// n elements, values or coefficients, that may be secret: cleared when dropped. They lie in host memory or on a device.
///
/// Only [`super::Engine`] looks inside, so that it concerns nobody else where they lie.
pub struct Column<F: NttField>(pub(super) Place<F>);

/// Where a column's elements are.
pub(super) enum Place<F: NttField> {
    Host(SecretVec<F>),
    Device(Resident<F>),
}

/// Some elements of a vector on a device, which others may lie in too.
#[derive(Debug)]
pub(super) struct Resident<F> {
    pub vector: Arc<DeviceVector<F>>,
    pub first: usize,
    pub len: usize,
}

impl<F> Clone for Resident<F> {
    fn clone(&self) -> Self {
        Self { vector: self.vector.clone(), ..*self }
    }
}

impl<F: NttField> Column<F> {
    /// A column of elements in host memory.
    pub fn new(elements: Vec<F>) -> Self {
        Self(Place::Host(SecretVec(elements)))
    }

    /// The columns of a vector, `len` elements each.
    pub(super) fn of(vector: DeviceVector<F>, len: usize) -> Vec<Self> {
        let (count, vector) = (vector.len().checked_div(len).unwrap_or(0), Arc::new(vector));
        let column = |k| Self(Place::Device(Resident { vector: vector.clone(), first: k * len, len }));
        (0..count).map(column).collect()
    }

    /// The elements of one in host memory, to write.
    pub(super) fn host_mut(&mut self) -> Result<&mut [F]> {
        match &mut self.0 {
            Place::Host(elements) => Ok(elements),
            Place::Device(_) => Err(Error::lost("plonk")),
        }
    }

    /// The column, to read.
    pub fn view(&self) -> View<'_, F> {
        View(match &self.0 {
            Place::Host(elements) => Viewed::Host(elements),
            Place::Device(resident) => Viewed::Device(resident),
        })
    }
}

impl<F: NttField> fmt::Debug for Column<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

/// A column of somebody's, to read.
pub struct View<'a, F>(pub(super) Viewed<'a, F>);

/// Where the elements of a view are.
pub(super) enum Viewed<'a, F> {
    Host(&'a [F]),
    Device(&'a Resident<F>),
}

impl<F> Clone for View<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for View<'_, F> {}

impl<F> Clone for Viewed<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Viewed<'_, F> {}

impl<F> fmt::Debug for View<'_, F> {
    /// Without the elements, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'a, F> View<'a, F> {
    /// A column in host memory.
    pub fn new(elements: &'a [F]) -> Self {
        Self(Viewed::Host(elements))
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self.0 {
            Viewed::Host(elements) => elements.len(),
            Viewed::Device(resident) => resident.len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
