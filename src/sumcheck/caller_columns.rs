//! Holds the columns of a claim, in host or device memory.

use std::fmt;
use std::sync::Arc;

use super::claim::{Claim, ERROR_CONTEXT};
use super::field::SumcheckField;
use crate::backend::Device;
use crate::field::tower::Tower;
use crate::field::{DeviceVector, Element, HostVector, bitslice};
use crate::kernels;
use crate::{Error, Result};

/// Borrows a column in host memory.
#[derive(Clone, Copy)]
pub enum HostColumn<'a, E: Element> {
    /// Pageable memory, copied to a device through pinned memory.
    Slice(&'a [E]),
    /// Pinned memory, which a device copies by itself.
    Pinned(&'a HostVector<E>),
}

impl<E: Element> fmt::Debug for HostColumn<'_, E> {
    /// Formats the column without its elements, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if matches!(self, Self::Pinned(_)) { "Pinned" } else { "Slice" };
        f.debug_struct(place).field("elements", &self.elements().len()).finish_non_exhaustive()
    }
}

impl<'a, E: Element> HostColumn<'a, E> {
    /// Returns the column's elements.
    pub fn elements(&self) -> &'a [E] {
        match self {
            Self::Slice(elements) => elements,
            Self::Pinned(vector) => vector,
        }
    }
}

/// Holds or borrows the columns of a claim. Each has 2^n elements of the field F or of its base field, where n is the
/// number of variables.
#[derive(Debug)]
pub enum Columns<'a, F: SumcheckField> {
    /// In host memory.
    Host(Vec<HostColumn<'a, F>>),
    /// In host memory, over the base field.
    HostBase(Vec<HostColumn<'a, F::Base>>),
    /// In a vector on a device, one column after the other. The vector stays unchanged.
    Kept(&'a DeviceVector<F>),
    /// Bit-sliced tiles ([`bitslice`]) of tower elements in a vector on a device, one column after the other. The
    /// vector stays unchanged. A tile takes the memory of 1024 elements.
    KeptSliced(&'a DeviceVector<F>),
    /// Over the base field, in a vector on a device, one column after the other. The vector stays unchanged.
    KeptBase(&'a DeviceVector<F::Base>),
    /// In a vector on a device, one column after the other. Rounds work in its memory and destroy its contents.
    Consumed(DeviceVector<F>),
}

/// Borrows columns in host memory, over the field F itself or over its base field.
#[derive(Debug, Clone)]
pub(super) enum HostSlices<'a, F: SumcheckField> {
    Own(Vec<HostColumn<'a, F>>),
    Base(Vec<HostColumn<'a, F::Base>>),
}

impl<'a, F: SumcheckField> HostSlices<'a, F> {
    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Own(columns) => columns.len(),
            Self::Base(columns) => columns.len(),
        }
    }

    pub(super) fn to_columns(&self) -> Columns<'a, F> {
        match self {
            Self::Own(columns) => Columns::Host(columns.clone()),
            Self::Base(columns) => Columns::HostBase(columns.clone()),
        }
    }
}

impl<'a, F: SumcheckField> Columns<'a, F> {
    /// Wraps `columns` in pageable host memory, one slice per column.
    pub fn host(columns: &[&'a [F]]) -> Self {
        Self::Host(columns.iter().copied().map(HostColumn::Slice).collect())
    }

    /// Wraps `columns` in pinned host memory, one vector per column. Devices copy them at the link's rate.
    pub fn pinned(columns: &[&'a HostVector<F>]) -> Self {
        Self::Host(columns.iter().copied().map(HostColumn::Pinned).collect())
    }

    /// Wraps `columns` in pageable host memory over the base field of F, one slice per column. The first round may be
    /// computed in that field.
    pub fn host_base(columns: &[&'a [F::Base]]) -> Self {
        Self::HostBase(columns.iter().copied().map(HostColumn::Slice).collect())
    }

    /// Wraps `columns` in pinned host memory over the base field of F, one vector per column. Devices copy them at the
    /// link's rate.
    pub fn pinned_base(columns: &[&'a HostVector<F::Base>]) -> Self {
        Self::HostBase(columns.iter().copied().map(HostColumn::Pinned).collect())
    }

    /// Wraps the device vector `columns`, which holds columns over the base field of F, one after the other. The caller
    /// must have waited for other streams' writes to it.
    pub fn device_base(columns: &'a DeviceVector<F::Base>) -> Self {
        Self::KeptBase(columns)
    }

    /// Wraps the device vector `columns`, which holds the columns one after the other. The caller must have waited for
    /// other streams' writes to it.
    pub fn device(columns: &'a DeviceVector<F>) -> Self {
        Self::Kept(columns)
    }

    /// Wraps the device vector `columns`, which holds bit-sliced columns of the tower, one after the other.
    /// [`bitslice_column`] makes such columns. Each must have at least 2^10 rows, and the caller must have waited for
    /// other streams' writes.
    pub fn device_sliced(columns: &'a DeviceVector<F>) -> Self {
        Self::KeptSliced(columns)
    }

    /// Takes the device vector `columns`, which holds the columns one after the other. Rounds overwrite it. The caller
    /// must have waited for other streams' writes to it.
    pub fn device_owned(columns: DeviceVector<F>) -> Self {
        Self::Consumed(columns)
    }

    /// Borrows the columns once more if they stay unchanged on a device. Returns `None` for other columns.
    pub(super) fn reborrow_kept(&self) -> Option<Columns<'a, F>> {
        match self {
            Self::Kept(vector) => Some(Self::Kept(vector)),
            Self::KeptSliced(vector) => Some(Self::KeptSliced(vector)),
            Self::KeptBase(vector) => Some(Self::KeptBase(vector)),
            Self::Host(_) | Self::HostBase(_) | Self::Consumed(_) => None,
        }
    }

    /// Returns the number of columns, each of which has 2^variables rows.
    pub(super) fn count(&self, variables: u32) -> usize {
        let slices = self.slices().map(|slices| slices.len());
        slices.or(self.device_length().map(|length| length >> variables)).unwrap_or(0)
    }

    /// Returns the columns as slices, or `None` if they are on a device.
    pub(super) fn slices(&self) -> Option<HostSlices<'a, F>> {
        match self {
            Self::Host(columns) => Some(HostSlices::Own(columns.clone())),
            Self::HostBase(columns) => Some(HostSlices::Base(columns.clone())),
            Self::Kept(_) | Self::KeptSliced(_) | Self::KeptBase(_) | Self::Consumed(_) => None,
        }
    }

    /// Returns the number of elements of each column in host memory, or an empty list for columns on a device.
    fn host_lengths(&self) -> Vec<usize> {
        match self {
            Self::Host(columns) => columns.iter().map(|column| column.elements().len()).collect(),
            Self::HostBase(columns) => columns.iter().map(|column| column.elements().len()).collect(),
            Self::Kept(_) | Self::KeptSliced(_) | Self::KeptBase(_) | Self::Consumed(_) => Vec::new(),
        }
    }

    /// Checks that the columns fit `claim`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column in host memory has another length than 2^n.
    /// - [`Error::Invalid`]: the length of a vector on a device is no multiple of 2^n.
    /// - [`Error::Invalid`]: there are fewer or more columns than the claim has.
    /// - [`Error::Invalid`]: columns are over a base field, and the field has none.
    /// - [`Error::Invalid`]: columns are bit-sliced, and are not of the tower.
    /// - [`Error::Invalid`]: columns are bit-sliced, and have fewer rows than a tile.
    pub(super) fn check(&self, claim: &Claim<F>) -> Result<()> {
        let rows = 1usize << claim.variables();
        if matches!(self, Self::HostBase(_) | Self::KeptBase(_)) && F::NAME == F::Base::NAME {
            return Err(Error::invalid(
                ERROR_CONTEXT,
                "columns",
                "over the field itself, which extends none",
                "over one below",
            ));
        }
        if matches!(self, Self::KeptSliced(_)) && (F::NAME != kernels::binary::TOWER.name || rows < bitslice::TILE) {
            let expected = format!("of the tower, and at least {} rows, where they are bit-sliced", bitslice::TILE);
            return Err(Error::invalid(ERROR_CONTEXT, "columns", expected, format!("{rows} of {}", F::NAME)));
        }
        let lengths = self.host_lengths();
        if let Some(number) = lengths.iter().position(|length| *length != rows) {
            return Err(Error::invalid(ERROR_CONTEXT, format!("length of column {number}"), rows, lengths[number]));
        }
        if let Some(length) = self.device_length().filter(|length| length % rows != 0) {
            return Err(Error::invalid(
                ERROR_CONTEXT,
                "length of the vector of columns",
                format!("a multiple of {rows}"),
                length,
            ));
        }
        let (count, expected) = (self.count(claim.variables()), claim.column_count());
        if count != expected {
            return Err(Error::invalid(ERROR_CONTEXT, "number of columns", expected, count));
        }
        Ok(())
    }

    /// Returns the device that holds the columns, or `None` if they are in host memory.
    pub(super) fn device_of(&self) -> Option<Arc<Device>> {
        match self {
            Self::Host(_) | Self::HostBase(_) => None,
            Self::Kept(vector) | Self::KeptSliced(vector) => Some(vector.device().clone()),
            Self::KeptBase(vector) => Some(vector.device().clone()),
            Self::Consumed(vector) => Some(vector.device().clone()),
        }
    }

    fn device_length(&self) -> Option<usize> {
        match self {
            Self::Host(_) | Self::HostBase(_) => None,
            Self::Kept(vector) | Self::KeptSliced(vector) => Some(vector.len()),
            Self::KeptBase(vector) => Some(vector.len()),
            Self::Consumed(vector) => Some(vector.len()),
        }
    }
}

/// Returns `column` as bit-sliced tiles ([`bitslice`]) for [`Columns::device_sliced`]. A tile holds 1024 elements, and
/// is returned as 1024 `Tower` values. The last tile is filled with zeros.
///
/// ```
/// use proofwarp::field::{bitslice, tower::Tower};
/// use proofwarp::sumcheck::{bitslice_column, unbitslice_column};
///
/// let column: Vec<Tower> = (0..1024).map(Tower).collect();
/// let words: Vec<u32> = bitslice_column(&column).iter().flat_map(|Tower(bits)| [0, 32, 64, 96].map(|low| (bits >> low) as u32)).collect();
/// assert_eq!(unbitslice_column(&words, 1024)?, column);
/// # Ok::<(), proofwarp::Error>(())
/// ```
pub fn bitslice_column(column: &[Tower]) -> Vec<Tower> {
    let elements: Vec<u128> = column.iter().map(|Tower(bits)| *bits).collect();
    let element = |words: &[u32; 4]| words.iter().rev().fold(0, |bits, word| bits << 32 | u128::from(*word));
    bitslice::to_tiles(&elements).as_chunks().0.iter().map(element).map(Tower).collect()
}

/// Returns the `rows` elements of a column from its bit-sliced tiles `words` ([`bitslice`]).
///
/// # Errors
/// - [`Error::Invalid`]: `words` has not the length of `rows` elements.
pub fn unbitslice_column(words: &[u32], rows: usize) -> Result<Vec<Tower>> {
    let expected = || rows.div_ceil(bitslice::TILE) as u128 * bitslice::TILE_WORDS as u128;
    let elements = bitslice::from_tiles(words, rows);
    let elements =
        elements.ok_or_else(|| Error::invalid(ERROR_CONTEXT, "words of a column", expected(), words.len()))?;
    Ok(elements.into_iter().map(Tower).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_shown_without_their_elements() {
        let shown = format!("{:?}", Columns::host(&[&[Tower(123_456_789), Tower(5)]]));
        assert_eq!(shown, "Host([Slice { elements: 2, .. }])");
    }
}
