//! Implements quadratic extensions F\[u\]/(u² + β) of prime fields, as the coordinates of G2 of a curve with a pairing.
//! No function takes constant time: these fields hold points, which are public.

use std::cmp::Ordering;

use ff::{Field, PrimeField};
use rand_core::RngCore;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq, CtOption};

use super::operator_macros::{fold, operator};

/// Represents a prime field with a quadratic extension.
pub trait QuadraticBase: PrimeField {
    /// β, a small number such that −β is not a square in the field.
    const BETA: u64;
}

/// Represents c0 + c1·u with u² = −β. Its memory is c0, then c1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct QuadraticExtension<F> {
    /// Coefficient of 1.
    pub c0: F,
    /// Coefficient of u.
    pub c1: F,
}

impl<F: QuadraticBase> QuadraticExtension<F> {
    /// Returns c0 + c1·u.
    pub const fn new(c0: F, c1: F) -> Self {
        Self { c0, c1 }
    }

    /// Returns c0² + β·c1², the product of the element and its conjugate.
    pub fn norm(&self) -> F {
        self.c0.square() + times_beta(self.c1.square())
    }

    /// Returns (a0 + a1·u)(b0 + b1·u) by Karatsuba: three products of the field.
    fn multiply(&self, other: &Self) -> Self {
        let (low, high) = (self.c0 * other.c0, self.c1 * other.c1);
        let cross = (self.c0 + self.c1) * (other.c0 + other.c1) - low - high;
        Self::new(low - times_beta(high), cross)
    }

    /// Returns k + u for the smallest k that makes this no square: its norm is none in the field.
    fn nonsquare() -> Self {
        let candidates = (0..).map(|k| Self::new(F::from(k), F::ONE));
        let mut nonsquares = candidates.filter(|candidate| candidate.norm().sqrt().is_none().into());
        nonsquares.next().unwrap_or(Self::ONE)
    }

    /// Returns a root of an element c0 of the field: in the field, or a multiple of u if c0 is no square.
    fn root_of_base(c0: F) -> Self {
        let root: Option<F> = c0.sqrt().into();
        let multiple = || (-c0 * F::from(F::BETA).invert().unwrap_or(F::ZERO)).sqrt().unwrap_or(F::ZERO);
        root.map_or_else(|| Self::new(F::ZERO, multiple()), |root| Self::new(root, F::ZERO))
    }
}

/// Returns β·`element`, by doubling and adding from the second highest bit of β on.
fn times_beta<F: QuadraticBase>(element: F) -> F {
    (0..F::BETA.ilog2()).rev().fold(element, |product, bit| {
        let double = product.double();
        if F::BETA >> bit & 1 == 1 { double + element } else { double }
    })
}

operator!([F: QuadraticBase] QuadraticExtension<F>, QuadraticExtension<F>, Add, add, AddAssign, add_assign, |a, b| {
    QuadraticExtension::new(a.c0 + b.c0, a.c1 + b.c1)
});
operator!([F: QuadraticBase] QuadraticExtension<F>, QuadraticExtension<F>, Sub, sub, SubAssign, sub_assign, |a, b| {
    QuadraticExtension::new(a.c0 - b.c0, a.c1 - b.c1)
});
operator!([F: QuadraticBase] QuadraticExtension<F>, QuadraticExtension<F>, Mul, mul, MulAssign, mul_assign, |a, b| {
    a.multiply(b)
});
fold!([F: QuadraticBase] QuadraticExtension<F>, Sum, sum, Self::ZERO, |a, b| a + b);
fold!([F: QuadraticBase] QuadraticExtension<F>, Product, product, Self::ONE, |a, b| a * b);

impl<F: QuadraticBase> std::ops::Neg for QuadraticExtension<F> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.c0, -self.c1)
    }
}

/// Orders elements by c1, then by c0, as arkworks does.
impl<F: Ord> Ord for QuadraticExtension<F> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.c1.cmp(&other.c1).then_with(|| self.c0.cmp(&other.c0))
    }
}

impl<F: Ord> PartialOrd for QuadraticExtension<F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<F: Field> ConditionallySelectable for QuadraticExtension<F> {
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        let [c0, c1] = [(&a.c0, &b.c0), (&a.c1, &b.c1)].map(|(a, b)| F::conditional_select(a, b, choice));
        Self { c0, c1 }
    }
}

impl<F: Field> ConstantTimeEq for QuadraticExtension<F> {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.c0.ct_eq(&other.c0) & self.c1.ct_eq(&other.c1)
    }
}

impl<F: QuadraticBase> Field for QuadraticExtension<F> {
    const ZERO: Self = Self::new(F::ZERO, F::ZERO);
    const ONE: Self = Self::new(F::ONE, F::ZERO);

    fn random(mut rng: impl RngCore) -> Self {
        Self::new(F::random(&mut rng), F::random(&mut rng))
    }

    /// Returns (c0 + c1)(c0 − β·c1) + (β − 1)·c0·c1 + 2·c0·c1·u: two products of the field.
    fn square(&self) -> Self {
        let product = self.c0 * self.c1;
        let others = (self.c0 + self.c1) * (self.c0 - times_beta(self.c1));
        Self::new(others + times_beta(product) - product, product.double())
    }

    fn double(&self) -> Self {
        Self::new(self.c0.double(), self.c1.double())
    }

    /// Returns the conjugate divided by the norm.
    fn invert(&self) -> CtOption<Self> {
        self.norm().invert().map(|inverse| Self::new(self.c0 * inverse, -self.c1 * inverse))
    }

    /// Returns the root by the complex method: for n = √(c0² + β·c1²), the root's c0 is √((c0 ± n)/2), and its c1 is
    /// c1/(2·√((c0 ± n)/2)). One of the signs gives a square.
    fn sqrt(&self) -> CtOption<Self> {
        if self.c1.is_zero_vartime() {
            return CtOption::new(Self::root_of_base(self.c0), 1.into());
        }
        let norm: Option<F> = self.norm().sqrt().into();
        let halves = norm.map(|norm| [norm, -norm].map(|norm| (self.c0 + norm) * F::TWO_INV));
        let c0 = halves.and_then(|halves| halves.into_iter().find_map(|half| Option::<F>::from(half.sqrt())));
        let root = c0.and_then(|c0| {
            let inverse: Option<F> = c0.double().invert().into();
            inverse.map(|inverse| Self::new(c0, self.c1 * inverse))
        });
        root.map_or_else(|| CtOption::new(Self::ZERO, 0.into()), |root| CtOption::new(root, 1.into()))
    }

    fn sqrt_ratio(numerator: &Self, denominator: &Self) -> (Choice, Self) {
        let ratio = *numerator * denominator.invert().unwrap_or(Self::ZERO);
        match Option::<Self>::from(ratio.sqrt()) {
            Some(root) => (numerator.is_zero() | !denominator.is_zero(), root),
            None => (0.into(), (ratio * Self::nonsquare()).sqrt().unwrap_or(Self::ZERO)),
        }
    }
}
