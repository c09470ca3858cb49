//! Holds scalars that are cleared when dropped, and draws random ones.

use std::ops::Deref;

use ff::PrimeField;
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::curve_id::CurveId;
use crate::error::{Error, Result};
use crate::scalars::scalar_from_bytes;

/// Scalars that nobody but the prover may know. Their memory is cleared on drop.
pub(crate) struct SecretScalars<F: PrimeField>(Vec<F>);

impl<F: PrimeField> SecretScalars<F> {
    /// Converts `values`, canonical and little-endian. Returns `None` if one is at least r.
    pub(crate) fn from_canonical(values: &[[u8; CurveId::SCALAR_BYTES]]) -> Option<Self> {
        let mut scalars = Self(vec![F::ZERO; values.len()]);
        let is_good = scalars.0.par_iter_mut().zip(values).all(|(scalar, value)| match scalar_from_bytes(value) {
            Some(decoded) => {
                *scalar = decoded;
                true
            }
            None => false,
        });
        is_good.then_some(scalars)
    }

    /// Draws `count` scalars uniformly from the system's generator.
    ///
    /// # Errors
    /// - [`Error::Randomness`]: the system has no random bytes.
    pub(crate) fn random(curve: CurveId, count: usize) -> Result<Self> {
        let mut scalars = Self(Vec::with_capacity(count));
        while scalars.0.len() < count {
            scalars.0.extend(draw::<F>(curve)?);
        }
        Ok(scalars)
    }

    /// Copies `scalars`.
    pub(crate) fn copy_of(scalars: impl ExactSizeIterator<Item = F>) -> Self {
        Self(scalars.collect())
    }
}

/// Draws as many bits as r has. Returns the scalar, or `None` if they make a number that is at least r.
fn draw<F: PrimeField>(curve: CurveId) -> Result<Option<F>> {
    let mut bytes = Zeroizing::new([0; CurveId::SCALAR_BYTES]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| Error::Randomness { reason: error.to_string() })?;
    bytes[CurveId::SCALAR_BYTES - 1] &= curve.highest_byte_mask();
    Ok(scalar_from_bytes(bytes.as_slice()))
}

impl<F: PrimeField> Deref for SecretScalars<F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        &self.0
    }
}

impl<F: PrimeField> Drop for SecretScalars<F> {
    fn drop(&mut self) {
        self.0.fill(F::ZERO);
        // Nothing reads them any more, but the stores must not be optimised away.
        std::hint::black_box(self.0.as_slice());
    }
}
