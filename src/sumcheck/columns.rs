//! The columns of a claim, wherever they lie.

use std::fmt;
use std::sync::Arc;

use super::claim::{Claim, PLACE};
use super::field::SumcheckField;
use crate::backend::Device;
use crate::field::tower::Tower;
use crate::field::{DeviceVector, Element, HostVector, bitslice};
use crate::kernels::name;
use crate::{Error, Result};

/// A column in the host's memory.
#[derive(Clone, Copy)]
pub enum HostColumn<'a, E: Element> {
    /// Anywhere, from where it goes to a device through page-locked memory.
    Slice(&'a [E]),
    /// In page-locked memory, which a device copies by itself.
    Pinned(&'a HostVector<E>),
}

impl<E: Element> fmt::Debug for HostColumn<'_, E> {
    /// Without its elements, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if matches!(self, Self::Pinned(_)) { "Pinned" } else { "Slice" };
        f.debug_struct(place).field("elements", &self.elements().len()).finish_non_exhaustive()
    }
}

impl<'a, E: Element> HostColumn<'a, E> {
    /// Its elements.
    pub fn elements(&self) -> &'a [E] {
        match self {
            Self::Slice(elements) => elements,
            Self::Pinned(vector) => vector,
        }
    }
}

/// Columns of 2^n elements of a field, or of the one that it extends.
#[derive(Debug)]
pub enum Columns<'a, F: SumcheckField> {
    /// In the host's memory.
    Host(Vec<HostColumn<'a, F>>),
    /// In the host's memory, over the field below.
    HostBase(Vec<HostColumn<'a, F::Base>>),
    /// One after the other in a vector on a device, which stays as it is.
    Kept(&'a DeviceVector<F>),
    /// The same as bit-sliced tiles ([`bitslice`]), of elements of the tower: the memory of 1024 elements is a tile.
    KeptSliced(&'a DeviceVector<F>),
    /// The same over the field below.
    KeptBase(&'a DeviceVector<F::Base>),
    /// The same, but the vector's memory is what the rounds work in: it is gone afterwards.
    Consumed(DeviceVector<F>),
}

/// Columns in the host's memory.
#[derive(Debug, Clone)]
pub(super) enum Slices<'a, F: SumcheckField> {
    Own(Vec<HostColumn<'a, F>>),
    Base(Vec<HostColumn<'a, F::Base>>),
}

impl<'a, F: SumcheckField> Slices<'a, F> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Own(columns) => columns.len(),
            Self::Base(columns) => columns.len(),
        }
    }

    pub fn columns(&self) -> Columns<'a, F> {
        match self {
            Self::Own(columns) => Columns::Host(columns.clone()),
            Self::Base(columns) => Columns::HostBase(columns.clone()),
        }
    }
}

impl<'a, F: SumcheckField> Columns<'a, F> {
    /// In the host's memory.
    pub fn host(columns: &[&'a [F]]) -> Self {
        Self::Host(columns.iter().copied().map(HostColumn::Slice).collect())
    }

    /// In page-locked memory of the host: they go to a device at the link's rate.
    pub fn pinned(columns: &[&'a HostVector<F>]) -> Self {
        Self::Host(columns.iter().copied().map(HostColumn::Pinned).collect())
    }

    /// In the host's memory, over the field that F extends: the first round is computed there.
    pub fn host_base(columns: &[&'a [F::Base]]) -> Self {
        Self::HostBase(columns.iter().copied().map(HostColumn::Slice).collect())
    }

    /// As [`Self::pinned`], over the field that F extends.
    pub fn pinned_base(columns: &[&'a HostVector<F::Base>]) -> Self {
        Self::HostBase(columns.iter().copied().map(HostColumn::Pinned).collect())
    }

    /// As [`Self::device`], over the field that F extends.
    pub fn device_base(columns: &'a DeviceVector<F::Base>) -> Self {
        Self::KeptBase(columns)
    }

    /// One after the other in a vector on a device. What other streams write to it must have been waited for.
    pub fn device(columns: &'a DeviceVector<F>) -> Self {
        Self::Kept(columns)
    }

    /// As [`Self::device`], of elements of the tower that are bit-sliced, as [`sliced`] makes them: at least 2^10 rows.
    pub fn device_sliced(columns: &'a DeviceVector<F>) -> Self {
        Self::KeptSliced(columns)
    }

    /// As [`Self::device`], with the vector's memory to work in.
    pub fn consumed(columns: DeviceVector<F>) -> Self {
        Self::Consumed(columns)
    }

    /// The columns again, where they stay as they are on a device.
    pub(super) fn kept(&self) -> Option<Columns<'a, F>> {
        match self {
            Self::Kept(vector) => Some(Self::Kept(vector)),
            Self::KeptSliced(vector) => Some(Self::KeptSliced(vector)),
            Self::KeptBase(vector) => Some(Self::KeptBase(vector)),
            Self::Host(_) | Self::HostBase(_) | Self::Consumed(_) => None,
        }
    }

    /// How many there are of 2^variables rows.
    pub(super) fn count(&self, variables: u32) -> usize {
        let slices = self.slices().map(|slices| slices.len());
        slices.or(self.device_length().map(|length| length >> variables)).unwrap_or(0)
    }

    /// Those in the host's memory.
    pub(super) fn slices(&self) -> Option<Slices<'a, F>> {
        match self {
            Self::Host(columns) => Some(Slices::Own(columns.clone())),
            Self::HostBase(columns) => Some(Slices::Base(columns.clone())),
            Self::Kept(_) | Self::KeptSliced(_) | Self::KeptBase(_) | Self::Consumed(_) => None,
        }
    }

    /// Their lengths, in the host's memory.
    fn lengths(&self) -> Vec<usize> {
        match self {
            Self::Host(columns) => columns.iter().map(|column| column.elements().len()).collect(),
            Self::HostBase(columns) => columns.iter().map(|column| column.elements().len()).collect(),
            Self::Kept(_) | Self::KeptSliced(_) | Self::KeptBase(_) | Self::Consumed(_) => Vec::new(),
        }
    }

    /// # Errors
    /// Lengths differ from 2^n, or there are fewer or more columns than the claim has.
    pub(super) fn check(&self, claim: &Claim<F>) -> Result<()> {
        let rows = 1usize << claim.variables();
        if matches!(self, Self::HostBase(_) | Self::KeptBase(_)) && F::NAME == F::Base::NAME {
            return Err(Error::invalid(
                PLACE,
                "columns",
                "over the field itself, which extends none",
                "over one below",
            ));
        }
        if matches!(self, Self::KeptSliced(_)) && (F::NAME != name::TOWER || rows < bitslice::TILE) {
            let expected = format!("of the tower, and at least {} rows, where they are bit-sliced", bitslice::TILE);
            return Err(Error::invalid(PLACE, "columns", expected, format!("{rows} of {}", F::NAME)));
        }
        let lengths = self.lengths();
        if let Some(number) = lengths.iter().position(|length| *length != rows) {
            return Err(Error::invalid(PLACE, format!("length of column {number}"), rows, lengths[number]));
        }
        if let Some(length) = self.device_length().filter(|length| length % rows != 0) {
            return Err(Error::invalid(
                PLACE,
                "length of the vector of columns",
                format!("a multiple of {rows}"),
                length,
            ));
        }
        let (count, expected) = (self.count(claim.variables()), claim.columns());
        if count != expected {
            return Err(Error::invalid(PLACE, "number of columns", expected, count));
        }
        Ok(())
    }

    /// The device that they lie on.
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

/// Bit-sliced tiles ([`bitslice`]) of elements of the tower, in the memory of as many elements: for [`Columns::device_sliced`].
/// The last tile is filled with zeros.
///
/// ```
/// use proofwarp::field::{bitslice, tower::Tower};
/// use proofwarp::sumcheck::{sliced, unsliced};
///
/// let column: Vec<Tower> = (0..1024).map(Tower).collect();
/// let words: Vec<u32> = sliced(&column).iter().flat_map(|Tower(bits)| [0, 32, 64, 96].map(|low| (bits >> low) as u32)).collect();
/// assert_eq!(unsliced(&words, 1024)?, column);
/// # Ok::<(), proofwarp::Error>(())
/// ```
pub fn sliced(column: &[Tower]) -> Vec<Tower> {
    let elements: Vec<u128> = column.iter().map(|Tower(bits)| *bits).collect();
    let element = |words: &[u32; 4]| words.iter().rev().fold(0, |bits, word| bits << 32 | u128::from(*word));
    bitslice::to_tiles(&elements).as_chunks().0.iter().map(element).map(Tower).collect()
}

/// Elements of the tower from bit-sliced tiles ([`bitslice`]), as a column in the host's memory.
///
/// # Errors
/// The words are not those of so many elements.
pub fn unsliced(words: &[u32], rows: usize) -> Result<Vec<Tower>> {
    let expected = || rows.div_ceil(bitslice::TILE) as u128 * bitslice::TILE_WORDS as u128;
    let elements = bitslice::from_tiles(words, rows);
    let elements = elements.ok_or_else(|| Error::invalid(PLACE, "words of a column", expected(), words.len()))?;
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
