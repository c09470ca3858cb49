//! The columns of a claim, wherever they lie.

use std::sync::Arc;

use super::claim::{Claim, PLACE};
use super::field::SumcheckField;
use crate::backend::Device;
use crate::field::tower::Tower;
use crate::field::{DeviceVector, bitslice};
use crate::{Error, Result};

/// Columns of 2^n elements.
#[derive(Debug)]
pub enum Columns<'a, F> {
    /// In the host's memory.
    Host(Vec<&'a [F]>),
    /// One after the other in a vector on a device, which stays as it is.
    Kept(&'a DeviceVector<F>),
    /// The same, but the vector's memory is what the rounds work in: it is gone afterwards.
    Consumed(DeviceVector<F>),
}

impl<'a, F: SumcheckField> Columns<'a, F> {
    /// In the host's memory.
    pub fn host(columns: &[&'a [F]]) -> Self {
        Self::Host(columns.to_vec())
    }

    /// One after the other in a vector on a device. What other streams write to it must have been waited for.
    pub fn device(columns: &'a DeviceVector<F>) -> Self {
        Self::Kept(columns)
    }

    /// As [`Self::device`], with the vector's memory to work in.
    pub fn consumed(columns: DeviceVector<F>) -> Self {
        Self::Consumed(columns)
    }

    /// How many there are of 2^variables rows.
    pub(super) fn count(&self, variables: u32) -> usize {
        match self {
            Self::Host(columns) => columns.len(),
            Self::Kept(vector) => vector.len() >> variables,
            Self::Consumed(vector) => vector.len() >> variables,
        }
    }

    /// # Errors
    /// Lengths differ from 2^n, or there are fewer columns than the claim has.
    pub(super) fn check(&self, claim: &Claim<F>) -> Result<()> {
        let rows = 1usize << claim.variables();
        if let Self::Host(columns) = self
            && let Some(number) = columns.iter().position(|column| column.len() != rows)
        {
            let what = format!("length of column {number}");
            return Err(Error::invalid(PLACE, what, rows, columns[number].len()));
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
        if count < expected {
            return Err(Error::invalid(PLACE, "number of columns", format!("at least {expected}"), count));
        }
        Ok(())
    }

    /// The device that they lie on.
    pub(super) fn device_of(&self) -> Option<Arc<Device>> {
        match self {
            Self::Host(_) => None,
            Self::Kept(vector) => Some(vector.device().clone()),
            Self::Consumed(vector) => Some(vector.device().clone()),
        }
    }

    fn device_length(&self) -> Option<usize> {
        match self {
            Self::Host(_) => None,
            Self::Kept(vector) => Some(vector.len()),
            Self::Consumed(vector) => Some(vector.len()),
        }
    }
}

/// Elements of the tower from bit-sliced tiles ([`bitslice`]), as a column in the host's memory.
///
/// # Errors
/// The words are not those of so many elements.
pub fn unsliced(words: &[u32], rows: usize) -> Result<Vec<Tower>> {
    let expected = || rows.div_ceil(bitslice::TILE) * bitslice::TILE_WORDS;
    let elements = bitslice::from_tiles(words, rows);
    let elements = elements.ok_or_else(|| Error::invalid(PLACE, "words of a column", expected(), words.len()))?;
    Ok(elements.into_iter().map(Tower).collect())
}
