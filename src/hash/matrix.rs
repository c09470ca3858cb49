//! Describes row-major matrices in host or device memory.

use std::borrow::Cow;

use crate::field::{DeviceVector, Element};
use crate::{Error, Result};

const ERROR_CONTEXT: &str = "row-major matrix";

/// Refers to a row-major matrix, whose rows are hashed. A copy refers to the same memory.
#[derive(Debug, Clone, Copy)]
pub struct RowMajorMatrix<'a, F> {
    pub(super) place: Place<'a, F>,
    width: usize,
    height: usize,
}

/// Locates the elements of a matrix.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'a, F> {
    Host(&'a [F]),
    Device(&'a DeviceVector<F>),
}

impl<'a, F: Element> RowMajorMatrix<'a, F> {
    /// Refers to the matrix of `width` columns whose rows are in `values`, one after the other.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `width` is zero, or `values` has no whole number of rows.
    pub fn host(values: &'a [F], width: usize) -> Result<Self> {
        Self::new(Place::Host(values), values.len(), width)
    }

    /// Refers to the matrix of `width` columns whose rows are in `values` on a device, one after the other.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `width` is zero, or `values` has no whole number of rows.
    pub fn device(values: &'a DeviceVector<F>, width: usize) -> Result<Self> {
        Self::new(Place::Device(values), values.len(), width)
    }

    fn new(place: Place<'a, F>, elements: usize, width: usize) -> Result<Self> {
        // Kernels count columns in 32 bits.
        if width == 0 || u32::try_from(width).is_err() {
            return Err(Error::invalid(ERROR_CONTEXT, "columns of a matrix", "from 1 to below 2^32", width));
        }
        if !elements.is_multiple_of(width) {
            let expected = format!("a multiple of the {width} columns");
            return Err(Error::invalid(ERROR_CONTEXT, "elements of a matrix", expected, elements));
        }
        Ok(Self { place, width, height: elements / width })
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns all elements, which are copied if they are on a device.
    pub(super) fn to_host(self) -> Result<Cow<'a, [F]>> {
        match self.place {
            Place::Host(values) => Ok(Cow::Borrowed(values)),
            Place::Device(values) => {
                let mut copy = vec![F::ZERO; values.len()];
                values.download(&mut values.device().stream()?, &mut copy)?;
                Ok(Cow::Owned(copy))
            }
        }
    }
}
