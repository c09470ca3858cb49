//! Creates a key whose discrete logarithms are known, and the proofs that it must give.

use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use ff::Field;
use group::Curve;
use group::prime::PrimeCurveAffine;
use proofwarp::groth16::{Circuit, Parameters, Proof};
use rand::RngCore;

use super::bases::Progression;
use crate::Failure;

/// Logarithms of all points of a key.
pub struct Logarithms {
    alpha: Scalar,
    beta: Scalar,
    delta: Scalar,
    /// Those of l, a, b in G1, and b in G2; those of h are powers of two.
    pub l: Progression,
    pub a: Progression,
    pub b_g1: Progression,
    pub b_g2: Progression,
}

/// Logarithms of a proof's sums.
#[derive(Debug, Clone, Copy)]
pub struct Sums {
    pub h: Scalar,
    pub l: Scalar,
    pub a: Scalar,
    pub b_g1: Scalar,
    pub b_g2: Scalar,
}

impl Logarithms {
    /// Draws random logarithms from `rng`.
    pub fn random(mut rng: impl RngCore) -> Self {
        let mut scalar = || Scalar::random(&mut rng);
        let [alpha, beta, delta] = [scalar(), scalar(), scalar()];
        let mut progression = || Progression::Multiples { first: scalar(), step: scalar() };
        let [l, a, b_g1, b_g2] = [progression(), progression(), progression(), progression()];
        Self { alpha, beta, delta, l, a, b_g1, b_g2 }
    }

    /// Computes the key for `circuit`.
    ///
    /// # Errors
    /// Returns the error of [`Progression::points`].
    pub fn key(&self, circuit: &Circuit<Scalar>) -> Result<Parameters<Bls12>, Failure> {
        let (a, b) = (circuit.variables_of_a().len(), circuit.variables_of_b().len());
        Ok(Parameters {
            alpha_g1: in_g1(self.alpha),
            beta_g1: in_g1(self.beta),
            beta_g2: in_g2(self.beta),
            delta_g1: in_g1(self.delta),
            delta_g2: in_g2(self.delta),
            h: Progression::Powers.points(circuit.constraint_count().next_power_of_two() - 1)?.into(),
            l: self.l.points(circuit.aux_count())?.into(),
            a: self.a.points(a)?.into(),
            b_g1: self.b_g1.points(b)?.into(),
            b_g2: self.b_g2.points(b)?.into(),
        })
    }

    /// Returns the proof that has `sums`: A = α + Σa + rδ, B = β + Σb + sδ, C = Σl + Σh + sA + r(β + Σb), times
    /// generators.
    pub fn proof(&self, sums: &Sums, r: Scalar, s: Scalar) -> Proof<Bls12> {
        let a = self.alpha + sums.a + r * self.delta;
        let b = self.beta + sums.b_g2 + s * self.delta;
        let c = sums.l + sums.h + s * a + r * (self.beta + sums.b_g1);
        Proof { a: in_g1(a), b: in_g2(b), c: in_g1(c) }
    }
}

fn in_g1(logarithm: Scalar) -> G1Affine {
    (G1Affine::generator() * logarithm).to_affine()
}

fn in_g2(logarithm: Scalar) -> G2Affine {
    (G2Affine::generator() * logarithm).to_affine()
}
