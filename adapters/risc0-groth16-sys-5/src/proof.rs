//! Defines the proof as stock returns it.

use halo2curves::bn256::Bn256;
use proofwarp_circom::{AffinePoint, Proof};

/// An element of BN254's base field: canonical, in limbs of 32 bits, the least significant one first.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Fp {
    /// Limbs.
    pub v: [u32; 8],
}

/// A Groth16 proof over BN254. Its points are affine.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Groth16Proof {
    /// π_a: x, y.
    pub a: [Fp; 2],
    /// π_c: x, y.
    pub c: [Fp; 2],
    /// π_b: x.c0, x.c1, y.c0, y.c1.
    pub b: [Fp; 4],
}

impl From<&Proof<Bn256>> for Groth16Proof {
    fn from(proof: &Proof<Bn256>) -> Self {
        Self { a: coordinates(&proof.a), c: coordinates(&proof.c), b: coordinates(&proof.b) }
    }
}

/// Returns the `N` base field elements of `point`.
fn coordinates<P: AffinePoint, const N: usize>(point: &P) -> [Fp; N] {
    let mut elements = [Fp::default(); N];
    for (element, integer) in elements.iter_mut().zip(point.to_integers()) {
        element.v.iter_mut().zip(integer.iter_u32_digits()).for_each(|(limb, digit)| *limb = digit);
    }
    elements
}
