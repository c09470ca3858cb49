//! Derives the constants of a curve that kernels need from the curve's Rust type.

use blstrs::{Fp, Fp2, G1Affine, G2Affine};
use ff::{Field, PrimeField};
use halo2curves::group::Curve;
use halo2curves::group::prime::PrimeCurveAffine;
use halo2curves::serde::SerdeObject;
use halo2curves::{Coordinates, CurveAffine, bn256};
use pasta_curves::{EpAffine, EqAffine};

use super::field_and_curve_names;
use super::fields::{FieldDescription, canonical_limbs, limbs_from_bytes};
use super::glv::GlvParams;

/// Holds the constants of a curve y² = x³ + b.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveDescription {
    /// b in Montgomery form, as little-endian 32-bit limbs. In a quadratic extension, the limbs of c0 precede those of
    /// c1.
    pub b: Vec<u32>,
    /// Endomorphism that tests whether a point is in the subgroup of prime order. `None` if that is the whole curve.
    pub subgroup: Option<SubgroupEndomorphism>,
    /// Endomorphism and constants of the curve's GLV decomposition.
    pub halves: GlvParams,
}

/// Holds an endomorphism (x, y) → (αxᵖ, βyᵖ) that tests membership in the subgroup of prime order. It equals
/// multiplication by `factor` on that subgroup, and on no other point; `cl/msm_check_points.cl` explains why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubgroupEndomorphism {
    /// α in Montgomery form, as limbs in the order of [`CurveDescription::b`].
    pub alpha: Vec<u32>,
    /// β in Montgomery form, as limbs in the order of [`CurveDescription::b`].
    pub beta: Vec<u32>,
    /// The factor in canonical form, as little-endian 32-bit limbs without leading zeros.
    pub factor: Vec<u32>,
}

impl CurveDescription {
    /// Returns the constants of the curve named `curve`, or `None` if there is no such curve. `field` is the prime
    /// field of its coordinates, also if these are in its quadratic extension.
    pub(super) fn from_name(curve: &str, field: &FieldDescription) -> Option<Self> {
        Some(match curve {
            field_and_curve_names::BLS12_381_G1 => Self::new::<G1Affine, _>(|p| [p.x(), p.y()], field, true),
            field_and_curve_names::BLS12_381_G2 => Self::new::<G2Affine, _>(|p| [p.x(), p.y()], field, true),
            field_and_curve_names::BN254_G1 => Self::new::<bn256::G1Affine, _>(coordinates, field, false),
            field_and_curve_names::BN254_G2 => Self::new::<bn256::G2Affine, _>(coordinates, field, true),
            field_and_curve_names::PALLAS => Self::new::<EpAffine, _>(coordinates, field, false),
            field_and_curve_names::VESTA => Self::new::<EqAffine, _>(coordinates, field, false),
            _ => return None,
        })
    }

    /// Computes the constants from the generator of curve `A`. `coordinates` returns a point's x and y. `cofactor` says
    /// whether the curve has points outside the subgroup of prime order.
    fn new<A: PrimeCurveAffine, F: Coordinate>(
        coordinates: fn(&A) -> [F; 2],
        field: &FieldDescription,
        cofactor: bool,
    ) -> Self
    where
        A::Curve: Curve<AffineRepr = A>,
    {
        let limbs = field.limb_count();
        let subgroup = cofactor.then(|| {
            let (factor, [alpha, beta]) = subgroup_endomorphism::<A, F>(coordinates, &field.modulus);
            SubgroupEndomorphism {
                alpha: alpha.montgomery_limbs(limbs),
                beta: beta.montgomery_limbs(limbs),
                factor: short_limbs(&factor),
            }
        });
        let halves = GlvParams::for_curve::<A, F>(|point| coordinates(point)[0], |x| x.montgomery_limbs(limbs));
        Self { b: curve_b(coordinates(&A::generator())).montgomery_limbs(limbs), subgroup, halves }
    }
}

/// Returns b = y² − x³, the constant of the curve y² = x³ + b through the point (x, y).
fn curve_b<F: Field>([x, y]: [F; 2]) -> F {
    y.square() - x.square() * x
}

/// Returns the factor, α and β of the curve's [`SubgroupEndomorphism`]. α and β are those that take the generator to its multiple
/// by the factor. `modulus` is p, as little-endian limbs.
fn subgroup_endomorphism<A: PrimeCurveAffine, F: Coordinate>(
    coordinates: fn(&A) -> [F; 2],
    modulus: &[u32],
) -> (A::Scalar, [F; 2])
where
    A::Curve: Curve<AffineRepr = A>,
{
    let factor = endomorphism_factor::<A::Scalar>(modulus, F::EXTENSION);
    let (from, to) = (coordinates(&A::generator()), coordinates(&(A::generator() * factor).to_affine()));
    // No coordinate of a generator is zero, because its order would then be 2 or 3.
    let ratio = |i: usize| to[i] * from[i].frobenius().invert().unwrap_or(F::ZERO);
    (factor, [ratio(0), ratio(1)])
}

/// Returns the coordinates x and y of `point`; zeros for infinity.
fn coordinates<C: CurveAffine>(point: &C) -> [C::Base; 2] {
    let coordinates: Option<Coordinates<C>> = point.coordinates().into();
    coordinates.map_or([C::Base::ZERO; 2], |point| [*point.x(), *point.y()])
}

/// Returns the factor of the curve's [`SubgroupEndomorphism`]: |t − 1| if coordinates are in an `extension`, (t − 1)² otherwise. t
/// is the trace of Frobenius over the prime field. It satisfies p ≡ t − 1 modulo the order, and |t − 1| is short. `p`
/// has little-endian limbs.
fn endomorphism_factor<S: PrimeField>(p: &[u32], extension: bool) -> S {
    let word = S::from(1 << 32);
    let p = p.iter().rev().fold(S::ZERO, |sum, limb| sum * word + S::from(u64::from(*limb)));
    let trace_minus_one = if short_limbs(&p).len() <= short_limbs(&-p).len() { p } else { -p };
    if extension { trace_minus_one } else { trace_minus_one.square() }
}

/// Returns the canonical form of `value`, as little-endian 32-bit limbs without leading zeros.
fn short_limbs<S: PrimeField>(value: &S) -> Vec<u32> {
    let mut limbs = canonical_limbs(value, S::NUM_BITS.div_ceil(32) as usize);
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
    limbs
}

/// Represents an element of the field of a curve's coordinates, F_p or F_p².
pub(super) trait Coordinate: Field {
    /// Whether the field is F_p² rather than F_p.
    const EXTENSION: bool;

    /// Returns aᵖ, where a is `self` and p is the characteristic.
    fn frobenius(self) -> Self;

    /// Returns the Montgomery form of all coefficients, as `limbs` little-endian 32-bit limbs each.
    fn montgomery_limbs(&self, limbs: usize) -> Vec<u32>;
}

/// Returns R = 2^(32·limbs) as an element of the field `F`.
fn montgomery_radix<F: Field>(limbs: usize) -> F {
    F::ONE.double().pow_vartime([32 * limbs as u64])
}

macro_rules! prime_coordinate {
    ($($field:ty),*) => {
        $(impl Coordinate for $field {
            const EXTENSION: bool = false;

            fn frobenius(self) -> Self {
                self
            }

            fn montgomery_limbs(&self, limbs: usize) -> Vec<u32> {
                canonical_limbs(&(*self * montgomery_radix::<Self>(limbs)), limbs)
            }
        })*
    };
}

prime_coordinate!(bn256::Fq, pasta_curves::Fp, pasta_curves::Fq);

impl Coordinate for Fp {
    const EXTENSION: bool = false;

    fn frobenius(self) -> Self {
        self
    }

    fn montgomery_limbs(&self, limbs: usize) -> Vec<u32> {
        limbs_from_bytes(&(self * montgomery_radix::<Self>(limbs)).to_bytes_le(), limbs)
    }
}

impl Coordinate for Fp2 {
    const EXTENSION: bool = true;

    fn frobenius(self) -> Self {
        Self::new(self.c0(), -self.c1())
    }

    fn montgomery_limbs(&self, limbs: usize) -> Vec<u32> {
        [self.c0(), self.c1()].iter().flat_map(|c| c.montgomery_limbs(limbs)).collect()
    }
}

impl Coordinate for bn256::Fq2 {
    const EXTENSION: bool = true;

    fn frobenius(mut self) -> Self {
        self.conjugate();
        self
    }

    fn montgomery_limbs(&self, limbs: usize) -> Vec<u32> {
        // Its raw bytes are the Montgomery form, and the only access to its coefficients.
        limbs_from_bytes(&self.to_raw_bytes(), 2 * limbs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{field_and_curve_names, large_prime_fields};

    /// Checks that the map (x, y) → (αxᵖ, βyᵖ), which takes the generator to its multiple, takes points on the curve to
    /// points on the curve.
    fn check_endomorphism<A: PrimeCurveAffine, F: Coordinate>(coordinates: fn(&A) -> [F; 2], field: &str)
    where
        A::Curve: Curve<AffineRepr = A>,
    {
        let field = large_prime_fields().into_iter().find(|f| f.name == field).expect("field");
        let (factor, [alpha, beta]) = subgroup_endomorphism::<A, F>(coordinates, &field.modulus);
        let b = curve_b(coordinates(&A::generator()));
        assert_eq!(beta.square(), alpha.square() * alpha);
        assert_eq!(beta.square() * b.frobenius(), b);
        assert!(short_limbs(&factor).len() <= 4, "half as long as the order");
    }

    #[test]
    fn endomorphisms() {
        check_endomorphism::<G1Affine, _>(|p| [p.x(), p.y()], field_and_curve_names::BLS12_381_FQ);
        check_endomorphism::<G2Affine, _>(|p| [p.x(), p.y()], field_and_curve_names::BLS12_381_FQ);
        check_endomorphism::<bn256::G2Affine, _>(coordinates, field_and_curve_names::BN254_FQ);
    }

    /// Checks that `frobenius` is the p-th power, and that `montgomery_limbs` of 1 are R and zeros.
    #[test]
    fn coordinates_of_extensions() {
        let field = |name: &str| large_prime_fields().into_iter().find(|f| f.name == name).expect("field");
        let bn = field(field_and_curve_names::BN254_FQ);
        let one = [bn.one.clone(), vec![0; 8]].concat();
        assert_eq!(bn256::Fq2::ONE.montgomery_limbs(8), one);
        let element = curve_b(coordinates(&bn256::G2Affine::generator()));
        let words = |limbs: &[u32]| -> Vec<u64> {
            limbs.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
        };
        assert_eq!(element.pow_vartime(words(&bn.modulus)), element.frobenius());
        let bls = field(field_and_curve_names::BLS12_381_FQ);
        assert_eq!(Fp2::ONE.montgomery_limbs(12), [bls.one.clone(), vec![0; 12]].concat());
        let element = G2Affine::generator().x();
        assert_eq!(element.pow_vartime(words(&bls.modulus)), element.frobenius());
    }
}
