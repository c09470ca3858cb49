//! Borrows the values of a witness's auxiliary variables.

use std::fmt;

use super::PackedScalars;
use crate::field::NttField;

/// Borrows the values of a witness's auxiliary variables, as a slice or packed.
#[derive(Clone, Copy)]
pub enum AuxValues<'a, F: Copy> {
    /// One element for each variable.
    Slice(&'a [F]),
    /// The same in less memory. Devices get the elements piece by piece.
    Packed(&'a PackedScalars<F>),
}

impl<F: Copy> fmt::Debug for AuxValues<'_, F> {
    /// Writes only the number of values, because they are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secret values", self.len())
    }
}

impl<F: Copy> AuxValues<'_, F> {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Slice(values) => values.len(),
            Self::Packed(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<F: NttField> AuxValues<'_, F> {
    /// Writes all values to `to`, which has their number.
    pub(super) fn write_to(&self, to: &mut [F]) {
        match self {
            Self::Slice(values) => to.copy_from_slice(values),
            Self::Packed(values) => values.write_to(to),
        }
    }

    /// Calls `visit` with all values in order, in one piece or several.
    ///
    /// # Errors
    /// Returns the first error of `visit`.
    pub(super) fn try_for_each_piece<E>(&self, mut visit: impl FnMut(&[F]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Slice(values) => visit(values),
            Self::Packed(values) => values.try_for_each_piece(visit),
        }
    }
}

impl<'a, F: Copy> From<&'a [F]> for AuxValues<'a, F> {
    fn from(values: &'a [F]) -> Self {
        Self::Slice(values)
    }
}

impl<'a, F: Copy> From<&'a Vec<F>> for AuxValues<'a, F> {
    fn from(values: &'a Vec<F>) -> Self {
        Self::Slice(values)
    }
}

impl<'a, F: Copy, const N: usize> From<&'a [F; N]> for AuxValues<'a, F> {
    fn from(values: &'a [F; N]) -> Self {
        Self::Slice(values)
    }
}

impl<'a, F: Copy> From<&'a PackedScalars<F>> for AuxValues<'a, F> {
    fn from(values: &'a PackedScalars<F>) -> Self {
        Self::Packed(values)
    }
}
