//! Bases as the host has them.

use std::ops::Range;

use super::encoded::Points;
use super::table::Origin;
use crate::Result;
use crate::curve::MsmCurve;

/// Bases as the host has them.
#[derive(Debug)]
pub(crate) enum Held<'a, C> {
    Borrowed(&'a [C]),
    Shared(Points<C>),
}

impl<C: MsmCurve> Held<'_, C> {
    pub fn len(&self) -> usize {
        match self {
            Self::Borrowed(bases) => bases.len(),
            Self::Shared(bases) => bases.len(),
        }
    }

    /// The bases in host memory, decoded now if they are not there yet.
    pub fn on_host(&self) -> Result<&[C]> {
        match self {
            Self::Borrowed(bases) => Ok(bases),
            Self::Shared(bases) => bases.on_host().map(|bases| bases.as_slice()),
        }
    }

    /// A range of the bases, for a table.
    pub fn part(&self, range: Range<usize>) -> Result<Origin<'_, C>> {
        let encoded = match self {
            Self::Shared(bases) => bases.source(),
            Self::Borrowed(_) => None,
        };
        match encoded {
            Some(source) => Ok(Origin::Encoded(source, range)),
            None => Ok(Origin::Memory(&self.on_host()?[range])),
        }
    }
}
