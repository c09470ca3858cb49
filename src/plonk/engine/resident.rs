//! Takes columns that are on the device already.

use super::Engine;
use super::transfer::download;
use crate::backend::ForeignMemory;
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::plonk::circuit::ProofCurve;
use crate::plonk::columns_layout_and_key::{Column, ColumnStorage, DeviceSlice};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

impl<F: NttField> Column<F> {
    /// Returns a copy of the elements in host memory. A column on a device is downloaded on a stream of its own.
    ///
    /// # Errors
    /// - [`Error::Device`]: the driver failed.
    pub fn download(&self) -> Result<SecretVec<F>> {
        match &self.0 {
            ColumnStorage::Host(elements) => Ok(SecretVec(elements.to_vec())),
            ColumnStorage::Device(resident) => download(&mut resident.vector.device().stream()?, resident),
        }
    }
}

impl<C: ProofCurve> Engine<C> {
    /// Takes over `columns`, which another library has on the engine's device, by
    /// [`Stream::adopt`](crate::backend::Stream::adopt). Nothing is copied. Each column has all elements of its memory.
    ///
    /// # Safety
    /// Once the commands of the library's stream have run, the memory holds reduced elements in Montgomery form.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - [`Error::Device`]: the host does the work.
    /// - Others are those of [`Stream::adopt`](crate::backend::Stream::adopt).
    ///
    /// After an error, all of `columns` are dropped.
    pub unsafe fn adopt_columns(&self, columns: Vec<Box<dyn ForeignMemory>>) -> Result<Vec<Column<C::Scalar>>> {
        self.run_on_device("adopt", columns.len(), |stream, _| {
            let adopt = |memory| {
                // SAFETY: passed on from the caller.
                let vector = unsafe { DeviceVector::adopt(stream, memory)? };
                let (len, vector) = (vector.len(), vector.into());
                Ok(Column(ColumnStorage::Device(DeviceSlice { vector, first: 0, len })))
            };
            columns.into_iter().map(adopt).collect()
        })
    }

    /// Writes `values` to the rows from `usable` on of `columns`, which are on the device. `values` holds the elements
    /// of the first column, then those of the next. If the device fails, returns the columns in host memory.
    pub(in crate::plonk) fn blind_resident(
        &self,
        columns: Vec<Column<C::Scalar>>,
        usable: usize,
        values: &[C::Scalar],
    ) -> Result<Vec<Column<C::Scalar>>> {
        let residents = columns.iter().map(|column| match &column.0 {
            ColumnStorage::Device(resident) => Ok(resident),
            ColumnStorage::Host(_) => Err(Error::invalid("plonk", "column", "on a device", "in host memory")),
        });
        let residents = residents.collect::<Result<Vec<_>>>()?;
        let rows = self.n() - usable;
        let on_host = self.run_step(
            "blind",
            columns.len(),
            |stream| {
                for (resident, values) in residents.iter().zip(values.chunks(rows)) {
                    let at = (resident.first + usable) * size_of::<C::Scalar>();
                    stream.upload_at(resident.vector.buffer(), at, as_bytes(values))?;
                }
                Ok(None)
            },
            |_| {
                let views: Vec<_> = columns.iter().map(Column::view).collect();
                let mut fetched = Vec::with_capacity(views.len());
                for (column, values) in self.fetch_all_to_host(&views)?.into_iter().zip(values.chunks(rows)) {
                    let mut column = column.into_owned();
                    column[usable..].copy_from_slice(values);
                    fetched.push(Column(ColumnStorage::Host(column)));
                }
                Ok(Some(fetched))
            },
        )?;
        Ok(on_host.unwrap_or(columns))
    }
}
