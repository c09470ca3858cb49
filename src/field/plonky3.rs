//! Wraps Goldilocks, BabyBear and KoalaBear with the extensions that challenges come from, by Plonky3's types (feature
//! `plonky3`).
//!
//! The types here have the memory of Plonky3's, and implement the traits of the crate `ff`, which all of this crate
//! uses. Only this module converts between the two. Slices are converted without a copy, by functions such as
//! [`Goldilocks::from_plonky3`] and [`Goldilocks::to_plonky3`].
//!
//! | type | elements | in memory |
//! |---|---|---|
//! | [`Goldilocks`] | p = 2^64 − 2^32 + 1 | any number of 64 bits: one from p on stands for its residue modulo p |
//! | [`Goldilocks2`] | a0 + a1·X, X² = 7 | a0, a1 |
//! | [`BabyBear`] | p = 15·2^27 + 1 | Montgomery form, 2^32·a mod p, below p |
//! | [`BabyBear4`] | a0 + a1·X + a2·X² + a3·X³, X⁴ = 11 | a0, a1, a2, a3 |
//! | [`KoalaBear`] | p = 127·2^24 + 1 | Montgomery form, 2^32·a mod p, below p |
//! | [`KoalaBear4`] | a0 + a1·X + a2·X² + a3·X³, X⁴ = 3 | a0, a1, a2, a3 |
//!
//! ```
//! use p3_field::PrimeCharacteristicRing;
//! use proofwarp::field::plonky3::BabyBear;
//!
//! let theirs: Vec<p3_baby_bear::BabyBear> = (0..3).map(p3_baby_bear::BabyBear::from_u32).collect();
//! let ours = BabyBear::from_plonky3(&theirs);
//! assert_eq!(ours.iter().sum::<BabyBear>(), BabyBear::from(3));
//! assert_eq!(BabyBear::to_plonky3(ours), theirs);
//! ```

use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bytemuck::TransparentWrapper;
use ff::{Field, PrimeField};
use p3_field::extension::BinomialExtensionField;
use p3_field::integers::QuotientMap;
use p3_field::{BasedVectorSpace, Field as _, PrimeCharacteristicRing, PrimeField64};
use rand_core::RngCore;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, CtOption};

use super::binary_field_macros::binary_operator;
use super::{Element, TransformField};
use crate::kernels;

/// Returns a random element of `B`, at most 2^-64 from uniform.
fn random<B: PrimeField64 + QuotientMap<u128>>(rng: &mut impl RngCore) -> B {
    B::from_int(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()))
}

fn select<B: PrimeField64>(a: B, b: B, choice: Choice) -> B {
    B::from_u64(u64::conditional_select(&a.as_canonical_u64(), &b.as_canonical_u64(), choice))
}

/// Returns `base`^`exponent` mod `p`.
const fn pow_mod(base: u64, mut exponent: u64, p: u64) -> u64 {
    let (mut power, mut square) = (1u128, base as u128);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * square % p as u128;
        }
        square = square * square % p as u128;
        exponent >>= 1;
    }
    power as u64
}

/// Wraps a type whose coefficients are in a base field, and implements the traits of a field.
macro_rules! wrapped {
    ($(#[$doc:meta])* $type:ident($inner:ty), $base:ty, $size:expr, $name:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq)]
        #[repr(transparent)]
        pub struct $type(pub $inner);

        const _: () = assert!(size_of::<$inner>() == $size && align_of::<$inner>() <= 8);

        // SAFETY: the wrapper is transparent.
        unsafe impl TransparentWrapper<$inner> for $type {}

        // SAFETY: the wrapped type is transparent over its coefficients, and each of those over a word, which the
        // kernels read; zeros are zero. The tests below compare bytes.
        unsafe impl Element for $type {
            const NAME: &'static str = $name;
        }

        impl $type {
            /// Returns Plonky3's `elements` as elements of this type, without a copy.
            pub fn from_plonky3(elements: &[$inner]) -> &[Self] {
                Self::wrap_slice(elements)
            }

            /// Returns `elements` as elements of Plonky3's type, without a copy.
            pub fn to_plonky3(elements: &[Self]) -> &[$inner] {
                Self::peel_slice(elements)
            }

            pub(crate) fn coefficients(&self) -> &[$base] {
                self.0.as_basis_coefficients_slice()
            }

            pub(crate) fn of_coefficients(coefficient: impl FnMut(usize) -> $base) -> Self {
                Self(<$inner>::from_basis_coefficients_fn(coefficient))
            }
        }

        impl From<$inner> for $type {
            fn from(element: $inner) -> Self {
                Self(element)
            }
        }

        impl From<$type> for $inner {
            fn from(element: $type) -> Self {
                element.0
            }
        }

        impl From<u64> for $type {
            fn from(number: u64) -> Self {
                Self(<$inner>::from_u64(number))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($type), self.0)
            }
        }

        binary_operator!($type, Add, add, AddAssign, add_assign, |a, b| $type(a.0 + b.0));
        binary_operator!($type, Sub, sub, SubAssign, sub_assign, |a, b| $type(a.0 - b.0));
        binary_operator!($type, Mul, mul, MulAssign, mul_assign, |a, b| $type(a.0 * b.0));

        impl Neg for $type {
            type Output = Self;

            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl Sum for $type {
            fn sum<I: Iterator<Item = Self>>(elements: I) -> Self {
                elements.fold(Self::ZERO, |sum, element| sum + element)
            }
        }

        impl<'a> Sum<&'a Self> for $type {
            fn sum<I: Iterator<Item = &'a Self>>(elements: I) -> Self {
                elements.copied().sum()
            }
        }

        impl Product for $type {
            fn product<I: Iterator<Item = Self>>(elements: I) -> Self {
                elements.fold(Self::ONE, |product, element| product * element)
            }
        }

        impl<'a> Product<&'a Self> for $type {
            fn product<I: Iterator<Item = &'a Self>>(elements: I) -> Self {
                elements.copied().product()
            }
        }

        impl ConditionallySelectable for $type {
            fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
                Self::of_coefficients(|i| select(a.coefficients()[i], b.coefficients()[i], choice))
            }
        }

        impl ConstantTimeEq for $type {
            fn ct_eq(&self, other: &Self) -> Choice {
                let pairs = self.coefficients().iter().zip(other.coefficients());
                pairs.fold(Choice::from(1), |all, (a, b)| all & a.as_canonical_u64().ct_eq(&b.as_canonical_u64()))
            }
        }

        impl Field for $type {
            const ZERO: Self = Self(<$inner>::ZERO);
            const ONE: Self = Self(<$inner>::ONE);

            fn random(mut rng: impl RngCore) -> Self {
                Self::of_coefficients(|_| random(&mut rng))
            }

            fn square(&self) -> Self {
                Self(self.0.square())
            }

            fn double(&self) -> Self {
                Self(self.0.double())
            }

            fn invert(&self) -> CtOption<Self> {
                CtOption::new(Self(self.0.try_inverse().unwrap_or_default()), !self.is_zero())
            }

            /// Returns a square root of the quotient. If it has none, returns a root of the quotient times the
            /// generator. The time depends on the elements.
            fn sqrt_ratio(numerator: &Self, denominator: &Self) -> (Choice, Self) {
                let quotient = *numerator * denominator.invert().unwrap_or(Self::ZERO);
                let root = quotient.0.try_sqrt();
                let other = || (quotient.0 * <$inner>::GENERATOR).try_sqrt().unwrap_or_default();
                let is_square = Choice::from(u8::from(root.is_some()));
                let is_quotient = numerator.is_zero() | !denominator.is_zero();
                (is_square & is_quotient, Self(root.unwrap_or_else(other)))
            }
        }
    };
}

wrapped! {
    /// Wraps an element of Goldilocks, the prime field of 2^64 − 2^32 + 1 elements.
    Goldilocks(p3_goldilocks::Goldilocks), p3_goldilocks::Goldilocks, 8, kernels::goldilocks::GOLDILOCKS.name
}

wrapped! {
    /// Wraps an element of Goldilocks' quadratic extension by a root of X² − 7.
    Goldilocks2(BinomialExtensionField<p3_goldilocks::Goldilocks, 2>), p3_goldilocks::Goldilocks, 16, kernels::goldilocks::GOLDILOCKS2.name
}

wrapped! {
    /// Wraps an element of BabyBear, the prime field of 15·2^27 + 1 elements.
    BabyBear(p3_baby_bear::BabyBear), p3_baby_bear::BabyBear, 4, kernels::baby_bear::BABY_BEAR.name
}

wrapped! {
    /// Wraps an element of BabyBear's quartic extension by a root of X⁴ − 11.
    BabyBear4(BinomialExtensionField<p3_baby_bear::BabyBear, 4>), p3_baby_bear::BabyBear, 16, kernels::baby_bear::BABY_BEAR4.name
}

wrapped! {
    /// Wraps an element of KoalaBear, the prime field of 127·2^24 + 1 elements.
    KoalaBear(p3_koala_bear::KoalaBear), p3_koala_bear::KoalaBear, 4, kernels::koala_bear::KOALA_BEAR.name
}

wrapped! {
    /// Wraps an element of KoalaBear's quartic extension by a root of X⁴ − 3.
    KoalaBear4(BinomialExtensionField<p3_koala_bear::KoalaBear, 4>), p3_koala_bear::KoalaBear, 16, kernels::koala_bear::KOALA_BEAR4.name
}

/// Implements the traits of a prime field. Arguments: the type, the word of its encoding, the modulus as text, bits,
/// two-adicity, and the generator of all units.
macro_rules! prime {
    ($type:ident($inner:ty), $word:ty, $modulus:literal, $bits:literal, $adicity:literal, $generator:literal) => {
        impl PrimeField for $type {
            type Repr = [u8; size_of::<$word>()];

            const MODULUS: &'static str = $modulus;
            const NUM_BITS: u32 = $bits;
            const CAPACITY: u32 = $bits - 1;
            const TWO_INV: Self = Self(<$inner>::new((<$inner>::ORDER_U64 / 2 + 1) as $word));
            const MULTIPLICATIVE_GENERATOR: Self = Self(<$inner>::new($generator));
            const S: u32 = $adicity;
            const ROOT_OF_UNITY: Self = Self::power_of_generator((<$inner>::ORDER_U64 - 1) >> $adicity);
            const ROOT_OF_UNITY_INV: Self = {
                let order = <$inner>::ORDER_U64 - 1;
                Self::power_of_generator(order - (order >> $adicity))
            };
            const DELTA: Self = Self::power_of_generator(1 << $adicity);

            /// Decodes a little-endian number. Returns none if it is not below p.
            fn from_repr(repr: Self::Repr) -> CtOption<Self> {
                let number = <$word>::from_le_bytes(repr);
                let is_element = u64::from(number) < <$inner>::ORDER_U64;
                CtOption::new(Self(<$inner>::new(number)), Choice::from(u8::from(is_element)))
            }

            fn to_repr(&self) -> Self::Repr {
                (self.0.as_canonical_u64() as $word).to_le_bytes()
            }

            fn is_odd(&self) -> Choice {
                Choice::from((self.0.as_canonical_u64() & 1) as u8)
            }
        }

        impl $type {
            /// Returns the residue of `number` modulo p.
            pub(crate) fn from_u128(number: u128) -> Self {
                Self(<$inner>::from_int(number))
            }

            const fn power_of_generator(exponent: u64) -> Self {
                Self(<$inner>::new(pow_mod($generator, exponent, <$inner>::ORDER_U64) as $word))
            }
        }
    };
}

prime!(Goldilocks(p3_goldilocks::Goldilocks), u64, "0xffffffff00000001", 64, 32, 7);
prime!(BabyBear(p3_baby_bear::BabyBear), u32, "0x78000001", 31, 27, 31);
prime!(KoalaBear(p3_koala_bear::KoalaBear), u32, "0x7f000001", 31, 24, 3);

// SAFETY: `Element` describes the memory of the types, which are prime fields.
unsafe impl TransformField for BabyBear {}

// SAFETY: as above.
unsafe impl TransformField for KoalaBear {}

#[cfg(test)]
mod tests {
    use p3_field::PrimeField32;
    use rand::SeedableRng;

    use super::*;
    use crate::field::as_bytes;
    use crate::kernels::FieldDescription;

    /// Checks that the kernels' constants are those of the types, and that elements have these limbs in memory.
    #[test]
    fn memory_is_what_kernels_take() {
        let goldilocks = FieldDescription::new(&kernels::goldilocks::GOLDILOCKS);
        let baby_bear = FieldDescription::new(&kernels::baby_bear::BABY_BEAR);
        let koala_bear = FieldDescription::new(&kernels::koala_bear::KOALA_BEAR);
        assert_eq!((goldilocks.name, baby_bear.name), (Goldilocks::NAME, BabyBear::NAME));
        assert_eq!(koala_bear.name, KoalaBear::NAME);
        assert_eq!(goldilocks.modulus, [1, u32::MAX]);
        assert_eq!(baby_bear.modulus, [p3_baby_bear::BabyBear::ORDER_U32]);
        assert_eq!(koala_bear.modulus, [p3_koala_bear::KoalaBear::ORDER_U32]);
        let words = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<_>>();
        assert_eq!(words(as_bytes(&[Goldilocks::ONE])), goldilocks.one);
        assert_eq!(words(as_bytes(&[BabyBear::ONE])), baby_bear.one);
        assert_eq!(words(as_bytes(&[KoalaBear::ONE])), koala_bear.one);
        assert_eq!(words(as_bytes(&[BabyBear::from(1 << 32)])), baby_bear.r2, "R·R for R");
        assert_eq!(words(as_bytes(&[KoalaBear::from(1 << 32)])), koala_bear.r2, "R·R for R");
        // Nothing is reduced.
        assert_eq!(words(as_bytes(&[Goldilocks(p3_goldilocks::Goldilocks::new(u64::MAX))])), [u32::MAX; 2]);
        let both = Goldilocks2::of_coefficients(|i| p3_goldilocks::Goldilocks::new(i as u64 + 5));
        assert_eq!(words(as_bytes(&[both])), [5, 0, 6, 0]);
    }

    fn is_a_field<F: Field>() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for _ in 0..50 {
            let [a, b, c] = std::array::from_fn(|_| F::random(&mut rng));
            assert_eq!((a + b) * c - a * c, b * c);
            assert_eq!(a * a.invert().expect("not zero"), F::ONE);
            assert_eq!((a.double(), a.square()), (a + a, a * a));
            let (is_square, root) = F::sqrt_ratio(&a, &b);
            assert!(!bool::from(is_square) || root.square() * b == a);
            assert_eq!(a.square().sqrt().map(|root| root.square()).expect("a square"), a.square());
            assert_eq!(F::conditional_select(&a, &b, Choice::from(1)), b);
            assert!(bool::from(a.ct_eq(&(a + b - b))) && !bool::from(a.ct_eq(&b)));
        }
        assert!(bool::from(F::ZERO.invert().is_none()));
        let (is_square, root) = F::sqrt_ratio(&F::ONE, &F::ZERO);
        assert!(!bool::from(is_square) && root == F::ZERO);
    }

    #[test]
    fn fields() {
        is_a_field::<Goldilocks>();
        is_a_field::<Goldilocks2>();
        is_a_field::<BabyBear>();
        is_a_field::<BabyBear4>();
        is_a_field::<KoalaBear>();
        is_a_field::<KoalaBear4>();
    }

    fn check_prime_field_constants<F: PrimeField<Repr = [u8; N]>, const N: usize>() {
        assert_eq!(F::TWO_INV.double(), F::ONE);
        assert_eq!(F::ROOT_OF_UNITY * F::ROOT_OF_UNITY_INV, F::ONE);
        assert_ne!(F::ROOT_OF_UNITY.pow_vartime([1 << (F::S - 1)]), F::ONE);
        assert_eq!(F::ROOT_OF_UNITY.pow_vartime([1 << F::S]), F::ONE);
        assert_eq!(F::MULTIPLICATIVE_GENERATOR.pow_vartime([1 << F::S]), F::DELTA);
        assert!(bool::from(F::from_repr([0xff; N]).is_none()));
        let largest = -F::ONE;
        assert_eq!(F::from_repr(largest.to_repr()).expect("canonical"), largest);
        assert!(bool::from(F::ONE.is_odd()) && !bool::from(largest.is_odd()));
    }

    #[test]
    fn constants_of_prime_fields() {
        check_prime_field_constants::<Goldilocks, 8>();
        check_prime_field_constants::<BabyBear, 4>();
        check_prime_field_constants::<KoalaBear, 4>();
    }
}
