//! Derives the constants of a curve that kernels need from the curve's declaration.

use num_bigint::BigUint;

use super::coordinates::{Coordinate, CoordinateField};
use super::fields::FieldDescription;
use super::glv::cube_root;
use super::spec::CurveSpec;

/// Holds the constants of a curve y² = x³ + b. Elements are in Montgomery form, as little-endian 32-bit limbs. In a
/// quadratic extension, the limbs of c0 precede those of c1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CurveDescription {
    /// b of the curve's equation.
    pub(super) b: Vec<u32>,
    /// Factor β of the curve's endomorphism (x, y) → (βx, y), by which scalars are decomposed.
    pub(super) beta: Vec<u32>,
    /// Endomorphism that tests whether a point is in the subgroup of prime order. `None` if that is the whole curve.
    pub(super) subgroup: Option<SubgroupEndomorphism>,
}

/// Holds an endomorphism (x, y) → (αxᵖ, βyᵖ) that tests membership in the subgroup of prime order. It equals
/// multiplication by `factor` on that subgroup, and on no other point; `cl/msm_check_points.cl` explains why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SubgroupEndomorphism {
    /// α in Montgomery form, as limbs in the order of [`CurveDescription::b`].
    pub(super) alpha: Vec<u32>,
    /// β in Montgomery form, as limbs in the order of [`CurveDescription::b`].
    pub(super) beta: Vec<u32>,
    /// The factor in canonical form, as little-endian 32-bit limbs without leading zeros.
    pub(super) factor: Vec<u32>,
}

impl CurveDescription {
    /// Computes the constants of `curve` from its generator.
    pub(super) fn new(curve: &CurveSpec) -> Self {
        let field = CoordinateField::of(curve);
        let generator = curve.generator.map(CoordinateField::element);
        let subgroup = curve.has_cofactor.then(|| {
            let (factor, [alpha, beta]) = subgroup_endomorphism(curve, &field, &generator);
            SubgroupEndomorphism {
                alpha: field.montgomery_limbs(&alpha),
                beta: field.montgomery_limbs(&beta),
                factor: factor.to_u32_digits(),
            }
        });
        let image = field.multiple(&generator, &cube_root(curve.scalars));
        // No x of a generator is zero, because its order would then be 3.
        let beta = field.mul(&image[0], &field.inverse(&generator[0]));
        let [b, beta] = [curve_b(&field, &generator), beta].map(|element| field.montgomery_limbs(&element));
        Self { b, beta, subgroup }
    }
}

/// Returns b = y² − x³, the constant of the curve y² = x³ + b through the point (x, y).
fn curve_b(field: &CoordinateField, [x, y]: &[Coordinate; 2]) -> Coordinate {
    field.sub(&field.square(y), &field.mul(&field.square(x), x))
}

/// Returns the factor, α and β of the [`SubgroupEndomorphism`] of `curve`. α and β are those that take the generator to its
/// multiple by the factor.
fn subgroup_endomorphism(
    curve: &CurveSpec,
    field: &CoordinateField,
    generator: &[Coordinate; 2],
) -> (BigUint, [Coordinate; 2]) {
    let order = BigUint::from_slice(&FieldDescription::new(curve.scalars).modulus);
    let factor = endomorphism_factor(field, &order);
    let image = field.multiple(generator, &factor);
    // No coordinate of a generator is zero, because its order would then be 2 or 3.
    let ratio = |i: usize| field.mul(&image[i], &field.inverse(&field.frobenius(&generator[i])));
    let factors = [ratio(0), ratio(1)];
    (factor, factors)
}

/// Returns the factor of the [`SubgroupEndomorphism`]: |t − 1| if coordinates are in a quadratic extension, (t − 1)²
/// otherwise. t is the trace of Frobenius over the prime field. It satisfies p ≡ t − 1 modulo the `order`, and |t − 1| is
/// short.
fn endomorphism_factor(field: &CoordinateField, order: &BigUint) -> BigUint {
    let residue = field.modulus() % order;
    let opposite = order - &residue;
    let trace_minus_one = residue.min(opposite);
    if field.is_quadratic() { trace_minus_one } else { &trace_minus_one * &trace_minus_one % order }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registry;

    #[test]
    fn endomorphisms() {
        for curve in registry::curves().filter(|curve| curve.has_cofactor) {
            let field = CoordinateField::of(curve);
            let generator = curve.generator.map(CoordinateField::element);
            let (factor, [alpha, beta]) = subgroup_endomorphism(curve, &field, &generator);
            // The map takes points on the curve to points on the curve, as it takes the generator to its multiple.
            let b = curve_b(&field, &generator);
            assert_eq!(field.square(&beta), field.mul(&field.square(&alpha), &alpha), "{}", curve.name);
            assert_eq!(field.mul(&field.square(&beta), &field.frobenius(&b)), b, "{}", curve.name);
            let description = FieldDescription::new(curve.scalars);
            assert!(2 * factor.bits() <= 32 * description.limb_count() as u64, "half as long as the order");
        }
    }

    #[test]
    fn inverses_and_frobenius() {
        for curve in registry::curves() {
            let field = CoordinateField::of(curve);
            let [x, y] = curve.generator.map(CoordinateField::element);
            let one = [BigUint::from(1u32), BigUint::default()];
            assert_eq!(field.mul(&x, &field.inverse(&x)), one, "{}", curve.name);
            let power = |a: &Coordinate| {
                let bits = (0..field.modulus().bits()).rev();
                bits.fold(one.clone(), |power, bit| {
                    let square = field.square(&power);
                    if field.modulus().bit(bit) { field.mul(&square, a) } else { square }
                })
            };
            assert_eq!(power(&y), field.frobenius(&y), "{}", curve.name);
        }
    }
}
