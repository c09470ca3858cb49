//! Converts and draws scalars that only the prover may know.

use std::sync::atomic::{AtomicBool, Ordering};

use ff::PrimeField;
use proofwarp::secret_vec::SecretVec;
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::curves::curve_id::CurveId;
use crate::curves::scalars::scalar_from_bytes;
use crate::error::{Error, Result};

/// Scalars that a thread converts at a time, 4096: some tens of microseconds of work.
const PIECE: usize = 1 << 12;

/// Converts `values`, canonical and little-endian. Returns `None` if one is at least r. All threads of rayon's pool take
/// part, since new memory of this size needs them all.
pub(crate) fn from_canonical<F: PrimeField>(values: &[[u8; CurveId::SCALAR_BYTES]]) -> Option<SecretVec<F>> {
    try_collect(values.par_iter().map(|value| scalar_from_bytes(value)))
}

/// Collects `scalars`. Returns `None` if one is `None`. All threads of rayon's pool take part.
pub(crate) fn try_collect<F: PrimeField>(
    scalars: impl IndexedParallelIterator<Item = Option<F>>,
) -> Option<SecretVec<F>> {
    let has_fault = AtomicBool::new(false);
    let keep = |scalar: Option<F>| {
        scalar.unwrap_or_else(|| {
            has_fault.store(true, Ordering::Relaxed);
            F::ZERO
        })
    };
    let scalars = SecretVec(scalars.with_min_len(PIECE).map(keep).collect());
    (!has_fault.into_inner()).then_some(scalars)
}

/// Draws `count` scalars uniformly from the system's generator.
///
/// # Errors
/// - [`Error::Randomness`]: the system has no random bytes.
pub(crate) fn draw_scalars<F: PrimeField>(curve: CurveId, count: usize) -> Result<SecretVec<F>> {
    let mut scalars = SecretVec(Vec::with_capacity(count));
    while scalars.len() < count {
        scalars.0.extend(draw::<F>(curve)?);
    }
    Ok(scalars)
}

/// Draws as many bits as r has. Returns the scalar, or `None` if they make a number that is at least r.
fn draw<F: PrimeField>(curve: CurveId) -> Result<Option<F>> {
    let mut bytes = Zeroizing::new([0; CurveId::SCALAR_BYTES]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| Error::Randomness { reason: error.to_string() })?;
    bytes[CurveId::SCALAR_BYTES - 1] &= curve.highest_byte_mask();
    Ok(scalar_from_bytes(bytes.as_slice()))
}
