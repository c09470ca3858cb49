//! Defines the pairings that proofs support, and checks lengths.

use crate::curve::MsmCurve;
use crate::field::NttField;
use crate::{Error, Result};

/// Marks a pairing engine whose groups and scalar field the kernels support: BLS12-381 (`blstrs::Bls12`), BN254
/// (`halo2curves::bn256::Bn256`).
pub trait Engine: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve> {}

impl<E: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve>> Engine for E {}

/// Names the module in errors of its input checks.
pub(super) const ERROR_CONTEXT: &str = "groth16";

/// Checks that the length `actual` equals `expected`. `what` names the length in the error.
///
/// # Errors
/// - [`Error::Invalid`]: `actual` differs from `expected`.
pub(super) fn check_length(what: impl Into<String>, expected: usize, actual: usize) -> Result<()> {
    if expected == actual { Ok(()) } else { Err(Error::invalid(ERROR_CONTEXT, what, expected, actual)) }
}
