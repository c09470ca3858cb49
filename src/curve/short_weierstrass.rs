//! Implements the points of curves y² = x³ + b, for curves whose crate has no types in the memory layout of devices. A
//! curve gives its constants by [`ShortWeierstrass`]. No function takes constant time.
//!
//! Formulas are from the [Explicit-Formulas Database](https://www.hyperelliptic.org/EFD/g1p/auto-shortw-jacobian-0.html):
//! add-1998-cmo-2 and its mixed form, dbl-2009-l.

use std::borrow::{Borrow, Cow};
use std::iter::zip;
use std::ops::{Mul, MulAssign, Neg};

use ff::{BatchInvert, Field, PrimeField};
use group::prime::{PrimeCurve, PrimeCurveAffine, PrimeGroup};
use group::{Curve, Group, GroupEncoding};
use rand_core::RngCore;
use subtle::{Choice, CtOption};

use super::MsmCurve;
use super::operator_macros::{fold, operator};
use super::pippenger::pippenger;
use crate::field::Element;
use crate::kernels::spec::CurveSpec;

/// Represents the field of a curve's coordinates.
///
/// # Safety
/// Every bit pattern of the type's size is a value.
pub unsafe trait Coordinate: Element + Ord {
    /// Type of an encoded element. Its highest two bits are unused, so that an encoded point can have flags there.
    type Encoding: Copy + Default + Send + Sync + 'static + AsRef<[u8]> + AsMut<[u8]>;

    /// Returns the element of a declaration's literals: `coefficients` in order, each in hexadecimal.
    fn from_literals(coefficients: &[&str]) -> Self;

    /// Encodes the element: coefficients in order, each a little-endian number.
    fn encode(&self) -> Self::Encoding;

    /// Decodes an element. Returns `None` if a coefficient is not below the modulus.
    fn decode(encoding: &Self::Encoding) -> Option<Self>;
}

/// Holds the N bytes of an encoded coordinate or point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for Encoding<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> AsRef<[u8]> for Encoding<N> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> AsMut<[u8]> for Encoding<N> {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Gives the constants of a curve y² = x³ + b. The type that implements it only names the curve.
pub trait ShortWeierstrass: Copy + Eq + std::fmt::Debug + Send + Sync + 'static {
    /// Represents a coordinate.
    type Base: Coordinate;
    /// Represents a scalar: an integer modulo the prime order of the group.
    type Scalar: PrimeField;
    /// Declares the curve to the kernels.
    const SPEC: &'static CurveSpec;

    /// Returns b.
    fn b() -> Self::Base;
}

/// Represents a point by its affine coordinates. Infinity is (0, 0), which is on no curve of b ≠ 0. The memory is x,
/// then y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Affine<C: ShortWeierstrass> {
    /// The x coordinate.
    pub x: C::Base,
    /// The y coordinate.
    pub y: C::Base,
}

/// Represents a point by its Jacobian coordinates: x = X/Z², y = Y/Z³, and Z = 0 for infinity. The memory is X, Y, Z.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Projective<C: ShortWeierstrass> {
    x: C::Base,
    y: C::Base,
    z: C::Base,
}

impl<C: ShortWeierstrass> Affine<C> {
    const IDENTITY: Self = Self { x: C::Base::ZERO, y: C::Base::ZERO };

    /// Returns the point with this x whose y is the larger of the two if `larger`. Returns `None` if there is none.
    fn from_x(x: C::Base, larger: bool) -> Option<Self> {
        let root: Option<C::Base> = (x.square() * x + C::b()).sqrt().into();
        root.map(|y| Self { x, y: if larger == (y > -y) { y } else { -y } })
    }

    fn is_at_infinity(&self) -> bool {
        *self == Self::IDENTITY
    }
}

impl<C: ShortWeierstrass> Projective<C> {
    const IDENTITY: Self = Self { x: C::Base::ZERO, y: C::Base::ONE, z: C::Base::ZERO };

    fn is_at_infinity(&self) -> bool {
        self.z.is_zero_vartime()
    }

    /// Adds another point to this one, neither infinity. (U1, S1) and (U2, S2) are x and y of both times the second and
    /// third power of `z`, a common denominator.
    fn finish_sum(&self, [u1, s1]: [C::Base; 2], [u2, s2]: [C::Base; 2], z: C::Base) -> Self {
        let (h, r) = (u2 - u1, s2 - s1);
        if h.is_zero_vartime() {
            return if r.is_zero_vartime() { self.double() } else { Self::IDENTITY };
        }
        let hh = h.square();
        let (hhh, v) = (h * hh, u1 * hh);
        let x = r.square() - hhh - v.double();
        Self { x, y: r * (v - x) - s1 * hhh, z: z * h }
    }

    fn plus(&self, other: &Self) -> Self {
        if self.is_at_infinity() || other.is_at_infinity() {
            return if self.is_at_infinity() { *other } else { *self };
        }
        let [zz1, zz2] = [self.z.square(), other.z.square()];
        let first = [self.x * zz2, self.y * zz2 * other.z];
        let second = [other.x * zz1, other.y * zz1 * self.z];
        self.finish_sum(first, second, self.z * other.z)
    }

    fn plus_affine(&self, other: &Affine<C>) -> Self {
        if self.is_at_infinity() || other.is_at_infinity() {
            return if self.is_at_infinity() { other.to_curve() } else { *self };
        }
        let zz = self.z.square();
        self.finish_sum([self.x, self.y], [other.x * zz, other.y * zz * self.z], self.z)
    }

    /// Returns the product by a little-endian number, by doubling and adding.
    fn times(&self, number: &[u8]) -> Self {
        let bits = number.iter().rev().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
        bits.fold(Self::IDENTITY, |sum, bit| {
            let double = sum.double();
            if bit == 1 { double + self } else { double }
        })
    }

    /// Returns the affine point. `inverse` is 1/Z, or zero for infinity.
    fn to_affine_by(self, inverse: C::Base) -> Affine<C> {
        let square = inverse.square();
        Affine { x: self.x * square, y: self.y * square * inverse }
    }
}

operator!([C: ShortWeierstrass] Projective<C>, Projective<C>, Add, add, AddAssign, add_assign, |a, b| a.plus(b));
operator!([C: ShortWeierstrass] Projective<C>, Projective<C>, Sub, sub, SubAssign, sub_assign, |a, b| a.plus(&-*b));
operator!([C: ShortWeierstrass] Projective<C>, Affine<C>, Add, add, AddAssign, add_assign, |a, b| a.plus_affine(b));
operator!([C: ShortWeierstrass] Projective<C>, Affine<C>, Sub, sub, SubAssign, sub_assign, |a, b| a.plus_affine(&-*b));
fold!([C: ShortWeierstrass] Projective<C>, Sum, sum, Self::IDENTITY, |a, b| a + b);

impl<C: ShortWeierstrass> Neg for Projective<C> {
    type Output = Self;

    fn neg(self) -> Self {
        Self { y: -self.y, ..self }
    }
}

impl<C: ShortWeierstrass> Neg for Affine<C> {
    type Output = Self;

    fn neg(self) -> Self {
        Self { y: -self.y, ..self }
    }
}

impl<C: ShortWeierstrass, S: Borrow<C::Scalar>> Mul<S> for Projective<C> {
    type Output = Self;

    fn mul(self, scalar: S) -> Self {
        self.times(scalar.borrow().to_repr().as_ref())
    }
}

impl<C: ShortWeierstrass, S: Borrow<C::Scalar>> MulAssign<S> for Projective<C> {
    fn mul_assign(&mut self, scalar: S) {
        *self = *self * scalar;
    }
}

impl<C: ShortWeierstrass, S: Borrow<C::Scalar>> Mul<S> for Affine<C> {
    type Output = Projective<C>;

    fn mul(self, scalar: S) -> Projective<C> {
        self.to_curve() * scalar
    }
}

impl<C: ShortWeierstrass> PartialEq for Projective<C> {
    fn eq(&self, other: &Self) -> bool {
        let [zz1, zz2] = [self.z.square(), other.z.square()];
        let same = || self.x * zz2 == other.x * zz1 && self.y * zz2 * other.z == other.y * zz1 * self.z;
        self.is_at_infinity() == other.is_at_infinity() && same()
    }
}

impl<C: ShortWeierstrass> Eq for Projective<C> {}

impl<C: ShortWeierstrass> From<Affine<C>> for Projective<C> {
    fn from(point: Affine<C>) -> Self {
        point.to_curve()
    }
}

impl<C: ShortWeierstrass> Group for Projective<C> {
    type Scalar = C::Scalar;

    /// Returns the product of the generator and a random scalar that is not zero.
    fn random(mut rng: impl RngCore) -> Self {
        let mut scalar = C::Scalar::ZERO;
        while scalar.is_zero_vartime() {
            scalar = C::Scalar::random(&mut rng);
        }
        Self::generator() * scalar
    }

    fn identity() -> Self {
        Self::IDENTITY
    }

    fn generator() -> Self {
        Affine::generator().to_curve()
    }

    fn is_identity(&self) -> Choice {
        Choice::from(u8::from(self.is_at_infinity()))
    }

    fn double(&self) -> Self {
        let (a, b) = (self.x.square(), self.y.square());
        let c = b.square();
        let d = ((self.x + b).square() - a - c).double();
        let e = a.double() + a;
        let x = e.square() - d.double();
        Self { x, y: e * (d - x) - c.double().double().double(), z: (self.y * self.z).double() }
    }
}

impl<C: ShortWeierstrass> Curve for Projective<C> {
    type AffineRepr = Affine<C>;

    /// Writes `points` to `affine`, with one inversion for all.
    ///
    /// # Panics
    /// The slices have different lengths.
    fn batch_normalize(points: &[Self], affine: &mut [Affine<C>]) {
        assert_eq!(points.len(), affine.len());
        let mut inverses: Vec<C::Base> = points.iter().map(|point| point.z).collect();
        inverses.iter_mut().batch_invert();
        for ((point, affine), inverse) in zip(zip(points, affine), inverses) {
            *affine = point.to_affine_by(inverse);
        }
    }

    fn to_affine(&self) -> Affine<C> {
        self.to_affine_by(self.z.invert().unwrap_or(C::Base::ZERO))
    }
}

/// Flag in the highest byte of an encoded point: infinity.
const INFINITY_FLAG: u8 = 1 << 6;
/// Flag in the highest byte of an encoded point: y is larger than −y.
const LARGER_Y_FLAG: u8 = 1 << 7;

/// Encodes points as arkworks does: x, with flags in the highest two bits. Decoding checks that the flags are canonical.
impl<C: ShortWeierstrass> GroupEncoding for Affine<C> {
    type Repr = <C::Base as Coordinate>::Encoding;

    fn from_bytes(bytes: &Self::Repr) -> CtOption<Self> {
        let point: Option<Self> = Self::from_bytes_unchecked(bytes).into();
        to_ct_option(point.filter(Self::is_torsion_free), Self::IDENTITY)
    }

    fn from_bytes_unchecked(bytes: &Self::Repr) -> CtOption<Self> {
        to_ct_option(decode_point(*bytes), Self::IDENTITY)
    }

    fn to_bytes(&self) -> Self::Repr {
        let flag = match self.is_at_infinity() {
            true => INFINITY_FLAG,
            false if self.y > -self.y => LARGER_Y_FLAG,
            false => 0,
        };
        let mut encoding = self.x.encode();
        if let Some(last) = encoding.as_mut().last_mut() {
            *last |= flag;
        }
        encoding
    }
}

/// Returns `value` as the type of subtle. `absent` stands for `None` in it.
fn to_ct_option<T>(value: Option<T>, absent: T) -> CtOption<T> {
    let is_some = Choice::from(u8::from(value.is_some()));
    CtOption::new(value.unwrap_or(absent), is_some)
}

fn decode_point<C: ShortWeierstrass>(mut bytes: <C::Base as Coordinate>::Encoding) -> Option<Affine<C>> {
    let last = bytes.as_mut().last_mut()?;
    let flags = *last & (INFINITY_FLAG | LARGER_Y_FLAG);
    *last ^= flags;
    let x = C::Base::decode(&bytes)?;
    match flags {
        INFINITY_FLAG => x.is_zero_vartime().then_some(Affine::IDENTITY),
        0 | LARGER_Y_FLAG => Affine::from_x(x, flags == LARGER_Y_FLAG),
        _ => None,
    }
}

/// Encodes points by their affine coordinates.
impl<C: ShortWeierstrass> GroupEncoding for Projective<C> {
    type Repr = <C::Base as Coordinate>::Encoding;

    fn from_bytes(bytes: &Self::Repr) -> CtOption<Self> {
        let point: Option<Affine<C>> = Affine::from_bytes(bytes).into();
        to_ct_option(point.map(Self::from), Self::IDENTITY)
    }

    fn from_bytes_unchecked(bytes: &Self::Repr) -> CtOption<Self> {
        to_ct_option(decode_point(*bytes).map(Self::from), Self::IDENTITY)
    }

    fn to_bytes(&self) -> Self::Repr {
        self.to_affine().to_bytes()
    }
}

impl<C: ShortWeierstrass> PrimeGroup for Projective<C> {}

impl<C: ShortWeierstrass> PrimeCurve for Projective<C> {
    type Affine = Affine<C>;
}

impl<C: ShortWeierstrass> PrimeCurveAffine for Affine<C> {
    type Scalar = C::Scalar;
    type Curve = Projective<C>;

    fn identity() -> Self {
        Self::IDENTITY
    }

    fn generator() -> Self {
        let [x, y] = C::SPEC.generator.map(C::Base::from_literals);
        Self { x, y }
    }

    fn is_identity(&self) -> Choice {
        Choice::from(u8::from(self.is_at_infinity()))
    }

    fn to_curve(&self) -> Projective<C> {
        match self.is_at_infinity() {
            true => Projective::IDENTITY,
            false => Projective { x: self.x, y: self.y, z: C::Base::ONE },
        }
    }
}

impl<C: ShortWeierstrass> MsmCurve for Affine<C> {
    const NAME: &'static str = C::SPEC.name;
    const AFFINE_BYTES: usize = size_of::<Self>();
    const SCALAR_BITS: u32 = C::Scalar::NUM_BITS;

    fn to_device(points: &[Self]) -> Cow<'_, [u8]> {
        // SAFETY: the type is `repr(C)` of two values of one type, so it has no padding, and `Element` promises that
        // these have none.
        Cow::Borrowed(unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), size_of_val(points)) })
    }

    fn from_device(jacobian: &[u8]) -> Projective<C> {
        assert_eq!(jacobian.len(), size_of::<Projective<C>>());
        // SAFETY: the length was checked, and the type is `repr(C)` of X, Y and Z, for which `Coordinate` promises that
        // all bit patterns are values; reading is unaligned.
        unsafe { std::ptr::read_unaligned(jacobian.as_ptr().cast()) }
    }

    fn msm_cpu(points: &[Self], scalars: &[[u8; 32]]) -> Projective<C> {
        pippenger(points, scalars)
    }

    fn is_on_curve(&self) -> bool {
        self.is_at_infinity() || self.y.square() == self.x.square() * self.x + C::b()
    }

    fn is_torsion_free(&self) -> bool {
        // A scalar cannot be r, the order, but r − 1 = −1: [r]P = [r − 1]P + P.
        !C::SPEC.has_cofactor || self.to_curve() * -C::Scalar::ONE == -self.to_curve()
    }
}
