//! Holds scalars that are cleared when dropped, and draws random ones.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};

use ff::PrimeField;
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::curves::curve_id::CurveId;
use crate::curves::scalars::scalar_from_bytes;
use crate::error::{Error, Result};

/// Scalars that a thread converts or clears at a time, 4096: some tens of microseconds of work.
const PIECE: usize = 1 << 12;

/// Holds scalars that only the prover may know. Their memory is cleared on drop.
pub(crate) struct SecretScalars<F: PrimeField>(Vec<F>);

impl<F: PrimeField> SecretScalars<F> {
    /// Converts `values`, canonical and little-endian. Returns `None` if one is at least r. All threads of rayon's pool
    /// take part, since new memory of this size needs them all.
    pub(crate) fn from_canonical(values: &[[u8; CurveId::SCALAR_BYTES]]) -> Option<Self> {
        Self::try_collect(values.par_iter().map(|value| scalar_from_bytes(value)))
    }

    /// Collects `scalars`. Returns `None` if one is `None`. All threads of rayon's pool take part.
    pub(crate) fn try_collect(scalars: impl IndexedParallelIterator<Item = Option<F>>) -> Option<Self> {
        let has_fault = AtomicBool::new(false);
        let keep = |scalar: Option<F>| {
            scalar.unwrap_or_else(|| {
                has_fault.store(true, Ordering::Relaxed);
                F::ZERO
            })
        };
        let scalars = Self(scalars.with_min_len(PIECE).map(keep).collect());
        (!has_fault.into_inner()).then_some(scalars)
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
        self.0.par_chunks_mut(PIECE).for_each(|scalars| scalars.fill(F::ZERO));
        // Nothing reads them any more, but the stores must not be optimised away.
        std::hint::black_box(self.0.as_slice());
    }
}
