//! Implements sumcheck's fields for extensions of Plonky3's fields. Columns may be over the extension or its base
//! field.

use ff::PrimeField;

use super::{ComputeField, SumcheckField};
use crate::field::linear::LinearMap;
use crate::field::plonky3::{BabyBear, BabyBear4, Goldilocks, Goldilocks2, KoalaBear, KoalaBear4};

/// Implements [`SumcheckField`] and [`ComputeField`] for an extension. Arguments: the extension and its base field, the
/// degree, and the bytes of an encoded coefficient.
macro_rules! extension {
    ($type:ident over $base:ident, $degree:literal, $bytes:literal) => {
        impl SumcheckField for $type {
            type Compute = Self;
            type Base = $base;
            const BYTES: usize = $degree * $bytes;

            fn from_base(base: $base) -> Self {
                Self(base.0.into())
            }

            fn times_base(work: Self, base: $base) -> Self {
                Self(work.0 * base.0)
            }

            fn to_compute_field(self) -> Self {
                self
            }

            fn from_compute_field(element: Self) -> Self {
                element
            }

            fn as_compute_field(elements: &[Self]) -> Option<&[Self]> {
                Some(elements)
            }

            fn conversion() -> Option<&'static LinearMap> {
                None
            }

            fn from_number(number: u64) -> Self {
                Self::from(number)
            }

            /// Derives each coefficient from the first 16 of its 64/degree bytes. It is at most 2^-64 from uniform.
            fn from_uniform(bytes: &[u8; 64]) -> Self {
                let parts = bytes.as_chunks::<{ 64 / $degree }>().0;
                let number = |part: &[u8]| part[..16].iter().rfold(0, |sum, byte| sum << 8 | u128::from(*byte));
                Self::of_coefficients(|i| $base::from_u128(number(&parts[i])).0)
            }

            /// Appends the element's canonical coefficients to `bytes`. The constant coefficient comes first. Each
            /// coefficient is a little-endian number, as `to_repr` returns it.
            fn write(&self, bytes: &mut Vec<u8>) {
                self.coefficients().iter().for_each(|coefficient| bytes.extend($base(*coefficient).to_repr()));
            }

            fn read(bytes: &[u8]) -> Option<Self> {
                if bytes.len() != Self::BYTES {
                    return None;
                }
                let read = |bytes: &[u8; $bytes]| Option::from($base::from_repr(*bytes));
                let coefficients: Option<Vec<$base>> = bytes.as_chunks().0.iter().map(read).collect();
                coefficients.map(|coefficients| Self::of_coefficients(|i| coefficients[i].0))
            }
        }

        impl ComputeField for $type {
            fn multiply(a: &mut [Self], b: &[Self]) {
                a.iter_mut().zip(b).for_each(|(a, b)| *a *= b);
            }

            fn sum_of_products(a: &[Self], b: &[Self]) -> Self {
                a.iter().zip(b).map(|(a, b)| *a * b).sum()
            }

            fn fold(low: &mut [Self], high: &[Self], factor: Self) {
                low.iter_mut().zip(high).for_each(|(low, high)| *low += (*high - *low) * factor);
            }
        }
    };
}

extension!(Goldilocks2 over Goldilocks, 2, 8);
extension!(BabyBear4 over BabyBear, 4, 4);
extension!(KoalaBear4 over KoalaBear, 4, 4);

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;
    use crate::kernels::spec::FieldKind;
    use crate::kernels::{FieldDescription, FieldSpec, baby_bear, goldilocks, koala_bear};

    fn check_encoding<F: SumcheckField>() {
        let mut element = F::from_uniform(&std::array::from_fn(|i| (i as u8).wrapping_mul(7).wrapping_add(1)));
        for _ in 0..20 {
            let mut bytes = Vec::new();
            element.write(&mut bytes);
            assert_eq!((bytes.len(), F::read(&bytes)), (F::BYTES, Some(element)));
            assert_eq!(F::read(&bytes[1..]), None);
            element = element.square() + F::from_number(3);
        }
        assert_eq!((F::from_number(1), F::from_base(F::Base::ONE)), (F::ONE, F::ONE));
        assert_eq!(F::read(&[0xff; 16]), None);
        let base = F::Base::ONE.double();
        assert_eq!(F::times_base(element.to_compute_field(), base), (element + element).to_compute_field());
    }

    #[test]
    fn elements_are_written_and_read() {
        check_encoding::<Goldilocks2>();
        check_encoding::<BabyBear4>();
        check_encoding::<KoalaBear4>();
    }

    /// Returns the number that a power of the root of `field` equals.
    fn residue(field: &FieldSpec) -> u64 {
        let FieldKind::Binomial { residue, .. } = field.kind else { panic!("an extension") };
        residue.into()
    }

    /// Checks that X^degree equals the residue in the kernels' constants, for each extension.
    #[test]
    fn residues() {
        let x = Goldilocks2::of_coefficients(|i| Goldilocks::from(u64::from(i == 1)).0);
        assert_eq!(x.square(), Goldilocks2::from(residue(&goldilocks::GOLDILOCKS2)));
        let x = BabyBear4::of_coefficients(|i| BabyBear::from(u64::from(i == 1)).0);
        assert_eq!(x.square().square(), BabyBear4::from(residue(&baby_bear::BABY_BEAR4)));
        let x = KoalaBear4::of_coefficients(|i| KoalaBear::from(u64::from(i == 1)).0);
        assert_eq!(x.square().square(), KoalaBear4::from(residue(&koala_bear::KOALA_BEAR4)));
        let limbs = FieldDescription::new(&baby_bear::BABY_BEAR4).to_montgomery(&11u32.into());
        let element = [BabyBear::from(11)];
        assert_eq!(crate::field::as_bytes(&element), limbs[0].to_le_bytes());
    }
}
