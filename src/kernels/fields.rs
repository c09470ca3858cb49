//! Derives the constants of a field that kernels need from the field's declaration.

use num_bigint::BigUint;

use super::spec::{FieldKind, FieldSpec};

/// Holds the constants of a field, as little-endian 32-bit limbs. The field is prime unless `binary` is true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDescription {
    /// Prefix of the field's functions in kernels, such as `bls12_381_fq`.
    pub name: &'static str,
    /// The prime p. For a binary field, the reduction polynomial without its highest power.
    pub modulus: Vec<u32>,
    /// R mod p, the Montgomery form of 1. R is 2^(32·limbs), except that it is 1 for prime fields of two limbs and
    /// binary fields.
    pub one: Vec<u32>,
    /// R² mod p, which converts a canonical element to Montgomery form.
    pub r2: Vec<u32>,
    /// Whether the field has characteristic two. R is 1 then.
    pub binary: bool,
}

impl FieldDescription {
    /// Computes the constants of `field`, or of the field that it extends.
    pub fn new(field: &'static FieldSpec) -> Self {
        let base = field.base();
        match base.kind {
            FieldKind::Prime { modulus, .. } => Self::prime(base.name, &from_hex(modulus)),
            _ => Self::ghash(base.name),
        }
    }

    /// Computes the constants of the prime field of `modulus`.
    fn prime(name: &'static str, modulus: &BigUint) -> Self {
        let limbs = modulus.bits().div_ceil(32) as usize;
        let one = if limbs == 2 { BigUint::from(1u32) } else { (BigUint::from(1u32) << (32 * limbs)) % modulus };
        let r2 = &one * &one % modulus;
        let [modulus, one, r2] = [modulus, &one, &r2].map(|number| to_limbs(number, limbs));
        Self { name, modulus, one, r2, binary: false }
    }

    /// Returns the constants of the binary field `GF(2)[x]/(x^128 + x^7 + x^2 + x + 1)`.
    fn ghash(name: &'static str) -> Self {
        let one = vec![1, 0, 0, 0];
        Self { name, modulus: vec![0x87, 0, 0, 0], r2: one.clone(), one, binary: true }
    }

    /// Returns the number of 32-bit limbs of an element.
    pub fn limb_count(&self) -> usize {
        self.modulus.len()
    }

    /// Returns 2p as little-endian 32-bit limbs, of which it has no more than p.
    pub fn twice_modulus(&self) -> Vec<u32> {
        let below = std::iter::once(&0).chain(&self.modulus);
        self.modulus.iter().zip(below).map(|(limb, below)| limb << 1 | below >> 31).collect()
    }

    /// Returns whether 5p < 2^(32·limbs), as far as the highest limb tells. The bounds in `cl/field_loose.cl` need
    /// that.
    pub fn has_loose_elements(&self) -> bool {
        self.modulus.last().is_some_and(|&limb| limb < u32::MAX / 5)
    }

    /// Returns −p⁻¹ mod 2³², by Newton's iteration (each step doubles the number of correct bits).
    pub fn inv32(&self) -> u32 {
        let p = self.modulus[0];
        let inverse = (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(p.wrapping_mul(x))));
        inverse.wrapping_neg()
    }

    /// Returns `number` in Montgomery form, as little-endian 32-bit limbs.
    pub fn to_montgomery(&self, number: &BigUint) -> Vec<u32> {
        let [one, modulus] = [&self.one, &self.modulus].map(|limbs| BigUint::from_slice(limbs));
        to_limbs(&(number * one % modulus), self.limb_count())
    }
}

/// Returns the number that `digits`, a hexadecimal literal of a declaration, writes. It is 0 if a digit is none, which a
/// test excludes.
pub(super) fn from_hex(digits: &str) -> BigUint {
    BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default()
}

/// Returns `number` as `limbs` little-endian 32-bit limbs, its lowest ones.
pub(super) fn to_limbs(number: &BigUint, limbs: usize) -> Vec<u32> {
    let mut digits = number.to_u32_digits();
    digits.resize(limbs, 0);
    digits
}

#[cfg(test)]
mod tests {
    use ec_gpu::GpuField;
    use ff::PrimeField;

    use super::*;
    use crate::kernels::registry::{self, bls12_377, bls12_381, bn254, pasta};

    /// Checks the description of `spec` against the arithmetic of its type.
    fn check<F: PrimeField>(spec: &'static FieldSpec) {
        let field = FieldDescription::new(spec);
        let limbs = field.limb_count();
        let words = |value: F| to_limbs(&BigUint::from_bytes_le(value.to_repr().as_ref()), limbs);
        let r = F::from(2).pow_vartime([32 * limbs as u64]);
        assert_eq!((&field.one, &field.r2), (&words(r), &words(r.square())), "{}", spec.name);
        assert_eq!(BigUint::from_slice(&field.modulus) - 1u32, BigUint::from_bytes_le((-F::ONE).to_repr().as_ref()));
        let FieldKind::Prime { generator, .. } = spec.kind else { panic!("prime") };
        assert_eq!(F::from(u64::from(generator)), F::MULTIPLICATIVE_GENERATOR, "{}", spec.name);
    }

    #[test]
    fn constants_of_types() {
        check::<crate::curve::bls12_377::Fr>(&bls12_377::FR);
        check::<crate::curve::bls12_377::Fq>(&bls12_377::FQ);
        check::<blstrs::Scalar>(&bls12_381::FR);
        check::<halo2curves::bn256::Fr>(&bn254::FR);
        check::<halo2curves::bn256::Fq>(&bn254::FQ);
        check::<pasta_curves::Fp>(&pasta::FP);
        check::<pasta_curves::Fq>(&pasta::FQ);
        let field = FieldDescription::new(&bls12_381::FQ);
        assert_eq!((field.modulus, field.r2), (blstrs::Fp::modulus(), blstrs::Fp::r2()));
    }

    #[test]
    fn literals_are_hexadecimal() {
        for field in registry::fields() {
            if let FieldKind::Prime { modulus, .. } = field.kind {
                assert!(BigUint::parse_bytes(modulus.as_bytes(), 16).is_some_and(|p| p.bit(0)), "{}", field.name);
            }
        }
        for curve in registry::curves() {
            let degree = curve.coordinates.degree();
            for coordinate in curve.generator {
                assert_eq!(coordinate.len(), degree, "{}", curve.name);
                let digits = |digits: &&str| BigUint::parse_bytes(digits.as_bytes(), 16).is_some();
                assert!(coordinate.iter().all(digits), "{}", curve.name);
            }
        }
    }
}
