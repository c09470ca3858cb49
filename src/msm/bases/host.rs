//! Bases on the host, borrowed or shared.

use std::ops::Range;

use super::base_points::BasePoints;
use super::table::BaseSource;
use crate::Result;
use crate::curve::MsmCurve;

/// Holds bases on the host: borrowed from the caller, or shared and possibly still encoded.
#[derive(Debug)]
pub(crate) enum HostBases<'a, C> {
    Borrowed(&'a [C]),
    Shared(BasePoints<C>),
}

impl<C: MsmCurve> HostBases<'_, C> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Borrowed(bases) => bases.len(),
            Self::Shared(bases) => bases.len(),
        }
    }

    /// Returns the bases in host memory, decoding them first if needed.
    pub(crate) fn on_host(&self) -> Result<&[C]> {
        match self {
            Self::Borrowed(bases) => Ok(bases),
            Self::Shared(bases) => bases.on_host().map(|bases| bases.as_slice()),
        }
    }

    /// Returns the bases with indices in `range` as the source of a device's table.
    pub(crate) fn table_source(&self, range: Range<usize>) -> Result<BaseSource<'_, C>> {
        let encoded = match self {
            Self::Shared(bases) => bases.source(),
            Self::Borrowed(_) => None,
        };
        match encoded {
            Some(source) => Ok(BaseSource::Encoded(source, range)),
            None => Ok(BaseSource::Memory(&self.on_host()?[range])),
        }
    }
}
