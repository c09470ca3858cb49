//! Implements the common parts of all binary fields of 128 bits: addition is exclusive or, and every element is a
//! square.

/// Implements the traits of a field for a type `$type(u128)`, from its functions `times` (products) and `inverse` (of
/// nonzero elements).
macro_rules! binary_field {
    ($type:ident) => {
        const _: () = {
            use std::fmt;
            use std::iter::{Product, Sum};
            use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

            use ff::Field;
            use rand_core::RngCore;
            use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, CtOption};

            impl fmt::Debug for $type {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    write!(f, "{}({:#034x})", stringify!($type), self.0)
                }
            }

            binary_operator!($type, Add, add, AddAssign, add_assign, |a, b| $type(a.0 ^ b.0));
            binary_operator!($type, Sub, sub, SubAssign, sub_assign, |a, b| $type(a.0 ^ b.0));
            binary_operator!($type, Mul, mul, MulAssign, mul_assign, |a, b| a.times(b));

            impl Neg for $type {
                type Output = Self;

                fn neg(self) -> Self {
                    self
                }
            }

            impl Sum for $type {
                fn sum<I: Iterator<Item = Self>>(elements: I) -> Self {
                    elements.fold(Self(0), |sum, element| sum + element)
                }
            }

            impl<'a> Sum<&'a Self> for $type {
                fn sum<I: Iterator<Item = &'a Self>>(elements: I) -> Self {
                    elements.copied().sum()
                }
            }

            impl Product for $type {
                fn product<I: Iterator<Item = Self>>(elements: I) -> Self {
                    elements.fold(Self(1), |product, element| product * element)
                }
            }

            impl<'a> Product<&'a Self> for $type {
                fn product<I: Iterator<Item = &'a Self>>(elements: I) -> Self {
                    elements.copied().product()
                }
            }

            impl ConditionallySelectable for $type {
                fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
                    Self(u128::conditional_select(&a.0, &b.0, choice))
                }
            }

            impl ConstantTimeEq for $type {
                fn ct_eq(&self, other: &Self) -> Choice {
                    self.0.ct_eq(&other.0)
                }
            }

            impl Field for $type {
                const ZERO: Self = Self(0);
                const ONE: Self = Self(1);

                fn random(mut rng: impl RngCore) -> Self {
                    Self(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()))
                }

                fn square(&self) -> Self {
                    *self * *self
                }

                /// Returns zero: the characteristic is two.
                fn double(&self) -> Self {
                    Self::ZERO
                }

                fn invert(&self) -> CtOption<Self> {
                    let is_some = !self.is_zero();
                    let one = Self::conditional_select(&Self::ONE, self, is_some);
                    CtOption::new(one.inverse(), is_some)
                }

                /// Squares the quotient 127 times, which gives its square root. Every element has one.
                fn sqrt_ratio(numerator: &Self, denominator: &Self) -> (Choice, Self) {
                    let inverse = denominator.invert().unwrap_or(Self::ZERO);
                    let root = (0..127).fold(*numerator * inverse, |power, _| power.square());
                    (numerator.is_zero() | !denominator.is_zero(), root)
                }
            }
        };
    };
}

/// Implements an operator and its assigning form by the function `$how`, for values and for references.
macro_rules! binary_operator {
    ($type:ident, $trait:ident, $function:ident, $assign_trait:ident, $assign:ident, $how:expr) => {
        impl $trait for $type {
            type Output = Self;

            fn $function(self, other: Self) -> Self {
                let how: fn($type, $type) -> $type = $how;
                how(self, other)
            }
        }

        impl $trait<&Self> for $type {
            type Output = Self;

            fn $function(self, other: &Self) -> Self {
                $trait::$function(self, *other)
            }
        }

        impl $assign_trait for $type {
            fn $assign(&mut self, other: Self) {
                *self = $trait::$function(*self, other);
            }
        }

        impl $assign_trait<&Self> for $type {
            fn $assign(&mut self, other: &Self) {
                *self = $trait::$function(*self, *other);
            }
        }
    };
}

pub(crate) use {binary_field, binary_operator};
