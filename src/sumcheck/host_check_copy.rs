//! Copies columns from a device, so that the host can check whether the device computed correctly.
#![deny(clippy::arithmetic_side_effects)]

use super::claim::ERROR_CONTEXT;
use super::columns::{Columns, HostColumn, HostSlices, unbitslice_column};
use super::field::{ComputeField, SumcheckField};
use crate::backend::{Abort, Stream};
use crate::field::{DeviceVector, Element, SecretVec, as_bytes, as_bytes_mut};
use crate::{Error, Result};

/// Holds a copy of a device's columns in host memory, one column after the other. They are over the field F or its base
/// field.
pub(super) enum HostCopy<F: SumcheckField> {
    Own(SecretVec<F>),
    Base(SecretVec<F::Base>),
}

impl<F: SumcheckField> HostCopy<F> {
    /// Copies `columns`, of `rows` rows each, from their device to host memory.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the columns are not kept on a device.
    /// - [`Error::Aborted`]: the abort hook aborted.
    /// - [`Error::Device`] or another device error: the copy failed.
    pub fn new(columns: &Columns<'_, F>, rows: usize, abort: Abort<'_>) -> Result<Self> {
        let there = || Error::invalid(ERROR_CONTEXT, "columns", "kept on a device", "others");
        let mut stream = columns.device_of().ok_or_else(there)?.stream()?;
        match columns {
            Columns::Kept(vector) => download(&mut stream, vector, abort).map(Self::Own),
            Columns::KeptBase(vector) => download(&mut stream, vector, abort).map(Self::Base),
            Columns::KeptSliced(vector) => unbitslice_all(&download(&mut stream, vector, abort)?, rows).map(Self::Own),
            Columns::Host(_) | Columns::HostBase(_) | Columns::Consumed(_) => Err(there()),
        }
    }

    /// Returns the columns as slices of `rows` rows each.
    pub fn slices(&self, rows: usize) -> HostSlices<'_, F> {
        match self {
            Self::Own(elements) => HostSlices::Own(elements.0.chunks(rows).map(HostColumn::Slice).collect()),
            Self::Base(elements) => HostSlices::Base(elements.0.chunks(rows).map(HostColumn::Slice).collect()),
        }
    }
}

fn download<E: Element>(stream: &mut Stream, vector: &DeviceVector<E>, abort: Abort<'_>) -> Result<SecretVec<E>> {
    let mut elements = SecretVec(vec![E::ZERO; vector.len()]);
    // SAFETY: the bytes written are elements, which kernels left.
    stream.download_abortable(unsafe { as_bytes_mut(&mut elements.0) }, vector.buffer(), abort)?;
    Ok(elements)
}

/// Converts `columns`, bit-sliced columns of the tower of `rows` rows each, to ordinary elements, one column after the
/// other.
fn unbitslice_all<F: SumcheckField>(columns: &SecretVec<F>, rows: usize) -> Result<SecretVec<F>> {
    let mut all = SecretVec(Vec::with_capacity(columns.0.len()));
    for column in columns.0.chunks(rows) {
        let words: Vec<u32> = as_bytes(column).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let elements = unbitslice_column(&words, rows)?;
        let there = elements.into_iter().map(|element| F::Compute::from_tower(element).map(F::from_compute_field));
        all.0.extend(there.collect::<Option<Vec<F>>>().ok_or_else(|| Error::internal(ERROR_CONTEXT))?);
    }
    Ok(all)
}
