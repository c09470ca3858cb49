//! Moving columns to where they are worked on.

use std::borrow::Cow;
use std::ops::Deref;

use crate::backend::Stream;
use crate::field::{DeviceVector, NttField, SecretVec, as_bytes};
use crate::plonk::column::{Resident, View, Viewed};
use crate::plonk::steps;
use crate::{Error, Result};

/// Elements in host memory, somebody's or a copy.
pub(super) enum OnHost<'a, F: NttField> {
    Lent(&'a [F]),
    Copy(SecretVec<F>),
}

impl<F: NttField> Deref for OnHost<'_, F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        match self {
            Self::Lent(elements) => elements,
            Self::Copy(elements) => elements,
        }
    }
}

impl<F: NttField> OnHost<'_, F> {
    /// A copy that may be changed.
    pub fn into_copy(self) -> SecretVec<F> {
        match self {
            Self::Lent(elements) => SecretVec(elements.to_vec()),
            Self::Copy(elements) => elements,
        }
    }
}

/// Copies a column from the device.
pub(super) fn download<F: NttField>(stream: &mut Stream, column: &Resident<F>) -> Result<SecretVec<F>> {
    let mut elements = SecretVec(vec![F::ZERO; column.len]);
    download_to(stream, column, &mut elements)?;
    Ok(elements)
}

/// Copies a column from the device to as many elements.
pub(super) fn download_to<F: NttField>(stream: &mut Stream, column: &Resident<F>, elements: &mut [F]) -> Result<()> {
    if column.first == 0 && column.vector.len() == column.len {
        return column.vector.download(stream, elements);
    }
    let alone = DeviceVector::allocate(stream, column.len)?;
    copy(stream, &alone, 0, View(Viewed::Device(column)))?;
    alone.download(stream, elements)
}

/// Queues a column into a vector from an element on.
fn copy<F: NttField>(stream: &mut Stream, to: &DeviceVector<F>, first: usize, column: View<'_, F>) -> Result<()> {
    let at = first * size_of::<F>();
    match column.0 {
        Viewed::Host(elements) => stream.upload_at(to.buffer(), at, as_bytes(elements)),
        Viewed::Device(from) => {
            let bytes = from.len * size_of::<F>();
            stream.copy((to.buffer(), at), (from.vector.buffer(), from.first * size_of::<F>()), bytes)
        }
    }
}

/// Columns of n elements one after the other in a vector of their own.
pub(super) fn copies<F: NttField>(stream: &mut Stream, n: usize, columns: &[View<'_, F>]) -> Result<DeviceVector<F>> {
    check(n, columns)?;
    let vector = DeviceVector::allocate(stream, columns.len() * n)?;
    columns.iter().enumerate().try_for_each(|(k, column)| copy(stream, &vector, k * n, *column))?;
    Ok(vector)
}

/// That columns have n elements.
pub(super) fn check<F>(n: usize, columns: &[View<'_, F>]) -> Result<()> {
    match columns.iter().find(|column| column.len() != n) {
        Some(column) => Err(Error::invalid("plonk", "length of a column", n, column.len())),
        None => Ok(()),
    }
}

/// Columns on the device, copies of those that lie in host memory.
pub(super) fn residents<F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &[View<'_, F>],
) -> Result<Vec<Resident<F>>> {
    check(n, columns)?;
    let resident = |column: &View<'_, F>| match column.0 {
        Viewed::Device(resident) => Ok(resident.clone()),
        Viewed::Host(elements) => {
            let vector = DeviceVector::upload(stream, elements)?.into();
            Ok(Resident { vector, first: 0, len: n })
        }
    };
    columns.iter().map(resident).collect()
}

/// Columns at equal distances of n: where they are, if they are so, or else copies.
pub(super) fn in_a_row<'a, F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &[View<'a, F>],
) -> Result<(Cow<'a, Resident<F>>, steps::Place)> {
    let packed = steps::Place::packed(n, columns.len());
    if let Some(Viewed::Device(start)) = columns.first().map(|column| column.0) {
        let follows = |(k, column): (usize, &View<'_, F>)| match column.0 {
            Viewed::Device(one) => {
                std::sync::Arc::ptr_eq(&one.vector, &start.vector) && one.first == start.first + k * n && one.len == n
            }
            Viewed::Host(_) => false,
        };
        if columns.iter().enumerate().all(follows) {
            return Ok((Cow::Borrowed(start), steps::Place { first: start.first, ..packed }));
        }
    }
    let vector = copies(stream, n, columns)?;
    let len = vector.len();
    Ok((Cow::Owned(Resident { vector: vector.into(), first: 0, len }), packed))
}

/// The column as steps on the device take it.
pub(super) fn column<F: NttField>(resident: &Resident<F>) -> steps::Column<'_, F> {
    steps::Column::new(&resident.vector, resident.first)
}
