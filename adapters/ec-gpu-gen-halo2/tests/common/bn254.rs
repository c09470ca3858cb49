//! BN254 in types of the versions of ff and group that the fork's pairing has, by halo2curves' arithmetic: no published crate has
//! both.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use group::prime::{PrimeCurve, PrimeCurveAffine, PrimeGroup};
use group::{Curve, Group, GroupEncoding};
use halo2curves::bn256 as inner;
use halo2curves::ff::{Field as _, PrimeField as _};
use halo2curves::group::prime::PrimeCurveAffine as _;
use halo2curves::group::{Curve as _, Group as _, GroupEncoding as _};
use rand_core::RngCore;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, CtOption};

/// `A op B = A`, by value and by reference, and in place.
macro_rules! operation {
    ($trait:ident $function:ident, $assign:ident $in_place:ident, $a:ident, $b:ident) => {
        impl $trait<$b> for $a {
            type Output = $a;

            fn $function(self, other: $b) -> $a {
                $a($trait::$function(self.0, other.0))
            }
        }

        impl<'a> $trait<&'a $b> for $a {
            type Output = $a;

            fn $function(self, other: &'a $b) -> $a {
                $a($trait::$function(self.0, other.0))
            }
        }

        impl $assign<$b> for $a {
            fn $in_place(&mut self, other: $b) {
                $assign::$in_place(&mut self.0, other.0);
            }
        }

        impl<'a> $assign<&'a $b> for $a {
            fn $in_place(&mut self, other: &'a $b) {
                $assign::$in_place(&mut self.0, other.0);
            }
        }
    };
}

macro_rules! negation {
    ($type:ident) => {
        impl Neg for $type {
            type Output = Self;

            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
    };
}

macro_rules! sum {
    ($type:ident, $zero:expr) => {
        impl Sum for $type {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold($zero, |sum, one| sum + one)
            }
        }

        impl<'a> Sum<&'a $type> for $type {
            fn sum<I: Iterator<Item = &'a $type>>(all: I) -> Self {
                all.fold($zero, |sum, one| sum + one)
            }
        }
    };
}

macro_rules! field {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $type(pub inner::$type);

        operation!(Add add, AddAssign add_assign, $type, $type);
        operation!(Sub sub, SubAssign sub_assign, $type, $type);
        operation!(Mul mul, MulAssign mul_assign, $type, $type);
        negation!($type);
        sum!($type, $type(inner::$type::ZERO));

        impl From<u64> for $type {
            fn from(number: u64) -> Self {
                Self(number.into())
            }
        }

        impl ConstantTimeEq for $type {
            fn ct_eq(&self, other: &Self) -> Choice {
                self.0.ct_eq(&other.0)
            }
        }

        impl ConditionallySelectable for $type {
            fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
                Self(inner::$type::conditional_select(&a.0, &b.0, choice))
            }
        }

        impl ff::Field for $type {
            fn random(rng: impl RngCore) -> Self {
                Self(inner::$type::random(rng))
            }

            fn zero() -> Self {
                Self(inner::$type::ZERO)
            }

            fn one() -> Self {
                Self(inner::$type::ONE)
            }

            fn square(&self) -> Self {
                Self(self.0.square())
            }

            fn double(&self) -> Self {
                Self(self.0.double())
            }

            fn invert(&self) -> CtOption<Self> {
                self.0.invert().map(Self)
            }

            fn sqrt(&self) -> CtOption<Self> {
                self.0.sqrt().map(Self)
            }
        }

        impl ff::PrimeField for $type {
            type Repr = [u8; 32];

            const NUM_BITS: u32 = inner::$type::NUM_BITS;
            const CAPACITY: u32 = inner::$type::CAPACITY;
            const S: u32 = inner::$type::S;

            fn from_repr(bytes: [u8; 32]) -> CtOption<Self> {
                let mut repr = <inner::$type as halo2curves::ff::PrimeField>::Repr::default();
                repr.as_mut().copy_from_slice(&bytes);
                inner::$type::from_repr(repr).map(Self)
            }

            fn to_repr(&self) -> [u8; 32] {
                let mut bytes = [0; 32];
                bytes.copy_from_slice(self.0.to_repr().as_ref());
                bytes
            }

            fn is_odd(&self) -> Choice {
                self.0.is_odd()
            }

            fn multiplicative_generator() -> Self {
                Self(inner::$type::MULTIPLICATIVE_GENERATOR)
            }

            fn root_of_unity() -> Self {
                Self(inner::$type::ROOT_OF_UNITY)
            }
        }
    };
}

field! {
    /// The scalars.
    Fr
}
field! {
    /// The coordinates.
    Fq
}

/// A point by three coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct G1(pub inner::G1);

/// A point by two coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct G1Affine(pub inner::G1Affine);

operation!(Add add, AddAssign add_assign, G1, G1);
operation!(Sub sub, SubAssign sub_assign, G1, G1);
operation!(Add add, AddAssign add_assign, G1, G1Affine);
operation!(Sub sub, SubAssign sub_assign, G1, G1Affine);
operation!(Mul mul, MulAssign mul_assign, G1, Fr);
negation!(G1);
negation!(G1Affine);
sum!(G1, G1(inner::G1::identity()));

impl Mul<Fr> for G1Affine {
    type Output = G1;

    fn mul(self, scalar: Fr) -> G1 {
        G1(self.0 * scalar.0)
    }
}

impl<'a> Mul<&'a Fr> for G1Affine {
    type Output = G1;

    fn mul(self, scalar: &'a Fr) -> G1 {
        G1(self.0 * scalar.0)
    }
}

macro_rules! encoding {
    ($type:ident) => {
        impl GroupEncoding for $type {
            type Repr = [u8; 32];

            fn from_bytes(bytes: &[u8; 32]) -> CtOption<Self> {
                let mut repr = <inner::$type as halo2curves::group::GroupEncoding>::Repr::default();
                repr.as_mut().copy_from_slice(bytes);
                inner::$type::from_bytes(&repr).map(Self)
            }

            fn from_bytes_unchecked(bytes: &[u8; 32]) -> CtOption<Self> {
                Self::from_bytes(bytes)
            }

            fn to_bytes(&self) -> [u8; 32] {
                let mut bytes = [0; 32];
                bytes.copy_from_slice(self.0.to_bytes().as_ref());
                bytes
            }
        }
    };
}
encoding!(G1);
encoding!(G1Affine);

impl Group for G1 {
    type Scalar = Fr;

    fn random(rng: impl RngCore) -> Self {
        Self(inner::G1::random(rng))
    }

    fn identity() -> Self {
        Self(inner::G1::identity())
    }

    fn generator() -> Self {
        Self(inner::G1::generator())
    }

    fn is_identity(&self) -> Choice {
        self.0.is_identity()
    }

    fn double(&self) -> Self {
        Self(self.0.double())
    }
}

impl Curve for G1 {
    type AffineRepr = G1Affine;

    fn to_affine(&self) -> G1Affine {
        G1Affine(self.0.to_affine())
    }
}

impl PrimeGroup for G1 {}

impl PrimeCurve for G1 {
    type Affine = G1Affine;
}

impl PrimeCurveAffine for G1Affine {
    type Scalar = Fr;
    type Curve = G1;

    fn identity() -> Self {
        Self(inner::G1Affine::identity())
    }

    fn generator() -> Self {
        Self(inner::G1Affine::generator())
    }

    fn is_identity(&self) -> Choice {
        self.0.is_identity()
    }

    fn to_curve(&self) -> G1 {
        G1(self.0.to_curve())
    }
}
