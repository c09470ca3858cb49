//! Defines the curves and fields of BLS12-377 (S. Bowe, A. Chiesa, M. Green, I. Miers, P. Mishra and H. Wu, Zexe,
//! ePrint 2018/962), with the constants of arkworks.
//!
//! G1 is y² = x³ + 1 over F_p, and G2 is y² = x³ + 1/u over F_p² = F_p\[u\]/(u² + 5). Elements and points have
//! arkworks' memory layout except for infinity, which has no flag. Both encodings are arkworks' compressed ones.

mod fq;
mod fr;

use std::sync::LazyLock;

use ff::{Field, PrimeField};
pub use fq::Fq;
pub use fr::Fr;

use super::quadratic_extension::{QuadraticBase, QuadraticExtension};
use super::short_weierstrass::{Affine, Coordinate, Encoding, Projective, ShortWeierstrass};
use crate::field::{Element, NttField, ScalarField, TransformField};
use crate::kernels::bls12_377;
use crate::kernels::spec::CurveSpec;

/// Represents an element of F_p², the field of the coordinates of G2.
pub type Fq2 = QuadraticExtension<Fq>;
/// Represents a point of G1 by its affine coordinates.
pub type G1Affine = Affine<G1>;
/// Represents a point of G1 by its Jacobian coordinates.
pub type G1Projective = Projective<G1>;
/// Represents a point of G2 by its affine coordinates.
pub type G2Affine = Affine<G2>;
/// Represents a point of G2 by its Jacobian coordinates.
pub type G2Projective = Projective<G2>;

/// Names the curve of G1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct G1;
/// Names the curve of G2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct G2;

// SAFETY: the type is `repr(transparent)` of `[u64; 4]`, in Montgomery form with R = 2^256 (the derive macro of ff).
unsafe impl Element for Fr {
    const NAME: &'static str = bls12_377::FR.name;
}
// SAFETY: as above.
unsafe impl ScalarField for Fr {}

// SAFETY: as above.
unsafe impl TransformField for Fr {}

impl NttField for Fr {}

// SAFETY: the type is `repr(transparent)` of `[u64; 6]`, in Montgomery form with R = 2^384 (the derive macro of ff).
unsafe impl Element for Fq {
    const NAME: &'static str = bls12_377::FQ.name;
}

// SAFETY: the type is `repr(C)` of two elements of `Fq`, whose alignment divides their size.
unsafe impl Element for Fq2 {
    const NAME: &'static str = bls12_377::FQ2.name;
}

impl QuadraticBase for Fq {
    const BETA: u64 = 5;
}

// SAFETY: the only field is an array of integers.
unsafe impl Coordinate for Fq {
    type Encoding = Encoding<48>;

    fn from_literals(coefficients: &[&str]) -> Self {
        let digits = coefficients.iter().flat_map(|digits| digits.chars()).filter_map(|digit| digit.to_digit(16));
        digits.fold(Self::ZERO, |number, digit| number * Self::from(16) + Self::from(u64::from(digit)))
    }

    fn encode(&self) -> Self::Encoding {
        Encoding(self.to_repr().0)
    }

    fn decode(encoding: &Self::Encoding) -> Option<Self> {
        Self::from_repr_vartime(fq::FqRepr(encoding.0))
    }
}

// SAFETY: both fields are arrays of integers.
unsafe impl Coordinate for Fq2 {
    type Encoding = Encoding<96>;

    fn from_literals(coefficients: &[&str]) -> Self {
        let (c0, c1) = coefficients.split_at_checked(1).unwrap_or_default();
        Self::new(Fq::from_literals(c0), Fq::from_literals(c1))
    }

    fn encode(&self) -> Self::Encoding {
        let mut bytes = [0; 96];
        let halves = bytes.as_chunks_mut::<48>().0;
        halves.iter_mut().zip([self.c0, self.c1]).for_each(|(half, c)| *half = c.to_repr().0);
        Encoding(bytes)
    }

    fn decode(encoding: &Self::Encoding) -> Option<Self> {
        let [c0, c1] = encoding.0.as_chunks().0 else { return None };
        let [c0, c1] = [c0, c1].map(|bytes| Fq::from_repr_vartime(fq::FqRepr(*bytes)));
        Some(Self::new(c0?, c1?))
    }
}

impl ShortWeierstrass for G1 {
    type Base = Fq;
    type Scalar = Fr;
    const SPEC: &'static CurveSpec = &bls12_377::G1;

    fn b() -> Fq {
        Fq::ONE
    }
}

impl ShortWeierstrass for G2 {
    type Base = Fq2;
    type Scalar = Fr;
    const SPEC: &'static CurveSpec = &bls12_377::G2;

    /// Returns 1/u: the curve is the sextic twist of G1's that has the factor r in its order.
    fn b() -> Fq2 {
        static B: LazyLock<Fq2> = LazyLock::new(|| Fq2::new(Fq::ZERO, Fq::ONE).invert().unwrap_or(Fq2::ZERO));
        *B
    }
}
