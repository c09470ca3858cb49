//! Holds proofs and verification keys.

use group::prime::PrimeCurveAffine;
use pairing::MultiMillerLoop;
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;

use crate::curves::affine_point::AffinePoint;
use crate::curves::curve_id::CurveId;
use crate::error::Result;
use crate::zkey::Zkey;

/// A curve that has a pairing: `halo2curves::bn256::Bn256` or `blstrs::Bls12`.
pub trait Groth16Engine:
    MultiMillerLoop<
        Fr: NttField,
        G1Affine: AffinePoint + MsmCurve + PrimeCurveAffine,
        G2Affine: AffinePoint + MsmCurve + PrimeCurveAffine,
    >
{
    /// The curve.
    const CURVE: CurveId;
}

impl Groth16Engine for halo2curves::bn256::Bn256 {
    const CURVE: CurveId = CurveId::Bn254;
}

impl Groth16Engine for blstrs::Bls12 {
    const CURVE: CurveId = CurveId::Bls12_381;
}

/// A Groth16 proof.
#[derive(Debug)]
pub struct Proof<E: Groth16Engine> {
    /// π_a.
    pub a: E::G1Affine,
    /// π_b.
    pub b: E::G2Affine,
    /// π_c.
    pub c: E::G1Affine,
}

/// A Groth16 verification key.
#[derive(Debug)]
pub struct VerificationKey<E: Groth16Engine> {
    /// α₁.
    pub alpha1: E::G1Affine,
    /// β₂.
    pub beta2: E::G2Affine,
    /// γ₂.
    pub gamma2: E::G2Affine,
    /// δ₂.
    pub delta2: E::G2Affine,
    /// A point for the signal 1 and for each public signal.
    pub ic: Vec<E::G1Affine>,
}

// Derived implementations would ask the engine, which has no values, for the trait.
#[expect(clippy::expl_impl_clone_on_copy, reason = "a derived `Copy` needs engines that are `Copy`")]
impl<E: Groth16Engine> Clone for Proof<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: Groth16Engine> Copy for Proof<E> {}

impl<E: Groth16Engine> PartialEq for Proof<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.a, self.b, self.c) == (other.a, other.b, other.c)
    }
}

impl<E: Groth16Engine> Eq for Proof<E> {}

impl<E: Groth16Engine> Clone for VerificationKey<E> {
    fn clone(&self) -> Self {
        let Self { alpha1, beta2, gamma2, delta2, .. } = *self;
        Self { alpha1, beta2, gamma2, delta2, ic: self.ic.clone() }
    }
}

impl<E: Groth16Engine> PartialEq for VerificationKey<E> {
    fn eq(&self, other: &Self) -> bool {
        let points = |key: &Self| (key.alpha1, key.beta2, key.gamma2, key.delta2);
        points(self) == points(other) && self.ic == other.ic
    }
}

impl<E: Groth16Engine> Eq for VerificationKey<E> {}

impl<E: Groth16Engine> VerificationKey<E> {
    /// Returns the verification key of a proving key.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`](crate::Error::OtherCurve): `zkey` is of another curve than `E`.
    /// - [`Error::Malformed`](crate::Error::Malformed): a point of IC is not on the curve.
    pub fn from_zkey(zkey: &Zkey) -> Result<Self> {
        Ok(Self {
            alpha1: zkey.alpha1().point(0)?,
            beta2: zkey.beta2().point(0)?,
            gamma2: zkey.gamma2().point(0)?,
            delta2: zkey.delta2().point(0)?,
            ic: zkey.ic().to_points()?,
        })
    }
}
