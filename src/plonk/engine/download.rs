//! Moves columns back to host memory.

use super::Engine;
use super::transfer::{allocate_zeros, download_into};
use crate::backend::lock;
use crate::plonk::column_storage::{Column, ColumnStorage};
use crate::plonk::curve::ProofCurve;
use crate::{Error, Result};

impl<C: ProofCurve> Engine<C> {
    /// Moves the elements of `columns` to host memory, in the same order. The vectors are not cleared when dropped, so
    /// the columns must not be secret.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    /// - [`Error::Device`]: a column is on a device, and the engine has none.
    pub fn into_host(&self, columns: Vec<Column<C::Scalar>>) -> Result<Vec<Vec<C::Scalar>>> {
        columns.into_iter().map(|column| self.column_into_host(column)).collect()
    }

    fn column_into_host(&self, column: Column<C::Scalar>) -> Result<Vec<C::Scalar>> {
        match column.0 {
            ColumnStorage::Host(mut elements) => Ok(std::mem::take(&mut elements.0)),
            ColumnStorage::Device(resident) => {
                let stream = self.stream.as_ref().ok_or_else(|| Error::internal("plonk"))?;
                let mut elements = allocate_zeros(resident.len);
                download_into(&mut lock(stream), &resident, &mut elements)?;
                Ok(elements)
            }
        }
    }
}
