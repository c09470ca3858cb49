//! Converts elements and points of arkworks, which has the same Montgomery form as the engine's libraries.

use ff::Field;
use proofwarp::field::as_bytes_mut;

use crate::curves::affine_point::{AffinePoint, PointFault};
use crate::curves::curve_id::{CurveId, is_below};
use crate::groth16::Groth16Engine;

/// Maximum bytes of a value, 192: a point of G2 of BLS12-381.
const MAX_BYTES: usize = 192;

/// An element or point of arkworks whose Montgomery form can be read and written.
pub trait MontgomeryForm: Copy + Send + Sync {
    /// Bytes of the form.
    const BYTES: usize;

    /// Writes the value to `bytes`, which has [`Self::BYTES`], in the form that [`AffinePoint::from_montgomery`] reads.
    fn write(&self, bytes: &mut [u8]);

    /// Returns the value that [`Self::write`] writes as `bytes`. Nothing is checked.
    fn read(bytes: &[u8]) -> Self;
}

/// Returns `value` as a scalar of the engine, or `None` if its limbs are at least r.
pub(crate) fn to_scalar<E: Groth16Engine, A: MontgomeryForm>(value: &A) -> Option<E::Fr> {
    let mut bytes = [0; CurveId::SCALAR_BYTES];
    value.write(bytes.get_mut(..A::BYTES)?);
    if !is_below(&bytes, E::CURVE.scalar_prime()) {
        return None;
    }
    let mut scalar = [E::Fr::ZERO];
    // SAFETY: the bytes are the Montgomery form of a scalar, and below r.
    unsafe { as_bytes_mut(&mut scalar) }.copy_from_slice(&bytes);
    Some(scalar[0])
}

/// Returns `point` as a point of the engine.
///
/// # Errors
/// Those of [`AffinePoint::from_montgomery`].
pub(crate) fn decode_point<P: AffinePoint, A: MontgomeryForm>(point: &A) -> Result<P, PointFault> {
    let mut bytes = [0; MAX_BYTES];
    let bytes = bytes.get_mut(..A::BYTES).ok_or(PointFault::Length)?;
    point.write(bytes);
    P::from_montgomery(bytes)
}

/// Returns a point of the engine as one of arkworks.
pub(crate) fn from_point<P: AffinePoint, A: MontgomeryForm>(point: &P) -> A {
    A::read(&point.to_montgomery())
}
