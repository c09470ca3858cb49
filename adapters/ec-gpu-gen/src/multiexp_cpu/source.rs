//! Provides the bases of a multi-exponentiation.

use std::io;
use std::sync::Arc;

use group::prime::PrimeCurveAffine;

use crate::EcError;

/// Creates [`Source`]s over one sequence of bases. Parallel jobs read the bases through sources of their own.
#[allow(clippy::new_ret_no_self, clippy::wrong_self_convention)] // The names are part of the interface.
pub trait SourceBuilder<G: PrimeCurveAffine>: Send + Sync + 'static + Clone {
    /// Type of the source that `new` returns.
    type Source: Source<G>;

    /// Returns a source that starts at the first base.
    fn new(self) -> Self::Source;

    /// Returns a vector of points, and the index of the first base in it.
    fn get(self) -> (Arc<Vec<G>>, usize);
}

/// Yields the bases of a multi-exponentiation one after another.
pub trait Source<G: PrimeCurveAffine> {
    /// Adds the next base to the sum `to`.
    ///
    /// # Errors
    /// - [`EcError::Simple`]: the next base is the point at infinity.
    /// - [`EcError::Io`]: there is no next base.
    fn add_assign_mixed(&mut self, to: &mut <G as PrimeCurveAffine>::Curve) -> Result<(), EcError>;

    /// Skips the next `amt` bases.
    ///
    /// # Errors
    /// - [`EcError::Io`]: there is no next base.
    fn skip(&mut self, amt: usize) -> Result<(), EcError>;
}

impl<G: PrimeCurveAffine> SourceBuilder<G> for (Arc<Vec<G>>, usize) {
    type Source = Self;

    fn new(self) -> Self {
        self
    }

    fn get(self) -> Self {
        self
    }
}

impl<G: PrimeCurveAffine> Source<G> for (Arc<Vec<G>>, usize) {
    fn add_assign_mixed(&mut self, to: &mut <G as PrimeCurveAffine>::Curve) -> Result<(), EcError> {
        let base = self.0.get(self.1).ok_or_else(exhausted_source_error)?;
        if bool::from(base.is_identity()) {
            return Err(IDENTITY);
        }
        *to += base;
        self.1 += 1;
        Ok(())
    }

    fn skip(&mut self, amt: usize) -> Result<(), EcError> {
        if self.1 >= self.0.len() {
            return Err(exhausted_source_error());
        }
        self.1 += amt;
        Ok(())
    }
}

/// Reports a base that is the point at infinity.
pub(super) const IDENTITY: EcError = EcError::Simple("Encountered an identity element in the CRS.");

/// Returns the error for a source that has too few bases.
pub(super) fn exhausted_source_error() -> EcError {
    io::Error::new(io::ErrorKind::UnexpectedEof, "Expected more bases from source.").into()
}
