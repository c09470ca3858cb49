//! Maps the types of one version of arkworks to the engine's. `super` names the version.

use blstrs::Bls12;
use halo2curves::bn256::Bn256;

use super::ark_bls12_381::Bls12_381;
use super::ark_bn254::Bn254;
use super::ark_ec::AffineRepr;
use super::ark_ec::pairing::Pairing;
use super::ark_ec::short_weierstrass::{Affine, SWCurveConfig};
use super::ark_ff::{BigInt, Fp, MontBackend, MontConfig, QuadExtConfig, QuadExtField};
use crate::ark::MontgomeryForm;
use crate::groth16::Groth16Engine;

/// A curve of arkworks that this crate proves on: `ark_bn254::Bn254` or `ark_bls12_381::Bls12_381`.
pub trait ArkPairing: Pairing<ScalarField: MontgomeryForm, G1Affine: MontgomeryForm, G2Affine: MontgomeryForm> {
    /// The curve in the library that the engine takes.
    type Engine: Groth16Engine;
}

impl ArkPairing for Bn254 {
    type Engine = Bn256;
}

impl ArkPairing for Bls12_381 {
    type Engine = Bls12;
}

impl<C: MontConfig<LIMBS>, const LIMBS: usize> MontgomeryForm for Fp<MontBackend<C, LIMBS>, LIMBS> {
    const BYTES: usize = LIMBS * 8;

    fn write(&self, bytes: &mut [u8]) {
        let BigInt(limbs) = &self.0;
        bytes.chunks_exact_mut(8).zip(limbs).for_each(|(bytes, limb)| bytes.copy_from_slice(&limb.to_le_bytes()));
    }

    fn read(bytes: &[u8]) -> Self {
        let mut limbs = [0; LIMBS];
        for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks_exact(8)) {
            *limb = bytes.iter().rev().fold(0, |limb, byte| limb << 8 | u64::from(*byte));
        }
        Self::new_unchecked(BigInt(limbs))
    }
}

impl<C: QuadExtConfig<BaseField: MontgomeryForm>> MontgomeryForm for QuadExtField<C> {
    const BYTES: usize = 2 * C::BaseField::BYTES;

    fn write(&self, bytes: &mut [u8]) {
        let (c0, c1) = bytes.split_at_mut(C::BaseField::BYTES);
        self.c0.write(c0);
        self.c1.write(c1);
    }

    fn read(bytes: &[u8]) -> Self {
        let (c0, c1) = bytes.split_at(C::BaseField::BYTES);
        Self { c0: C::BaseField::read(c0), c1: C::BaseField::read(c1) }
    }
}

impl<C: SWCurveConfig<BaseField: MontgomeryForm>> MontgomeryForm for Affine<C> {
    const BYTES: usize = 2 * C::BaseField::BYTES;

    fn write(&self, bytes: &mut [u8]) {
        let (x, y) = bytes.split_at_mut(C::BaseField::BYTES);
        match self.xy() {
            Some((point_x, point_y)) => {
                point_x.write(x);
                point_y.write(y);
            }
            None => bytes.fill(0),
        }
    }

    fn read(bytes: &[u8]) -> Self {
        if bytes.iter().all(|byte| *byte == 0) {
            return Self::identity();
        }
        let (x, y) = bytes.split_at(C::BaseField::BYTES);
        Self::new_unchecked(C::BaseField::read(x), C::BaseField::read(y))
    }
}
