//! Columns, wherever they lie.

use std::fmt;

use crate::field::{NttField, SecretVec};

/// n elements, values or coefficients, that may be secret: cleared when dropped.
///
/// Only [`super::Engine`] and what it calls look inside, so that other places than host memory concern nobody else.
pub struct Column<F: NttField>(SecretVec<F>);

impl<F: NttField> Column<F> {
    /// A column of elements in host memory.
    pub fn new(elements: Vec<F>) -> Self {
        Self(SecretVec(elements))
    }

    /// The column, to read.
    pub fn view(&self) -> View<'_, F> {
        View(&self.0)
    }

    /// The elements, in host memory and no more cleared: for columns that are no secret.
    pub fn into_vec(mut self) -> Vec<F> {
        std::mem::take(&mut self.0.0)
    }

    /// The elements, to write.
    pub(super) fn host_mut(&mut self) -> &mut [F] {
        &mut self.0
    }
}

impl<F: NttField> fmt::Debug for Column<F> {
    /// Without the elements, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("len", &self.0.len()).finish_non_exhaustive()
    }
}

/// A column of somebody's, to read.
#[derive(Debug)]
pub struct View<'a, F>(&'a [F]);

impl<F> Clone for View<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for View<'_, F> {}

impl<'a, F> View<'a, F> {
    /// A column in host memory.
    pub fn new(elements: &'a [F]) -> Self {
        Self(elements)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements in host memory.
    pub(super) fn host(&self) -> &'a [F] {
        self.0
    }
}
