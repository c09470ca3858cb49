//! Defines the pairings that proofs support.

use crate::curve::MsmCurve;
use crate::field::NttField;

/// Marks a pairing engine whose groups and scalar field the kernels support: BLS12-381 (`blstrs::Bls12`), BN254
/// (`halo2curves::bn256::Bn256`).
pub trait Engine: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve> {}

impl<E: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve>> Engine for E {}
