//! Defines the fields that sums are proved in, and the compute fields of their rounds.

mod basis_change;
#[cfg(feature = "plonky3")]
mod plonky3;

use bytemuck::TransparentWrapper;

pub(super) use basis_change::{BasisChange, enqueue_basis_change, to_ghash_table, to_tower_table};

use crate::field::ghash::{Ghash, Multiplier};
use crate::field::linear::LinearMap;
use crate::field::tower::Tower;
use crate::field::{Element, NttField, isomorphism};

/// Represents a field over which sums are proved.
pub trait SumcheckField: Element {
    /// The compute field, in which rounds are computed. It is this field, possibly in another basis.
    type Compute: ComputeField;
    /// The base field, which this field extends. Columns may be over it before the first challenge. It is `Self` if
    /// this field extends none.
    type Base: Element;
    /// Number of bytes of an encoded element.
    const BYTES: usize;

    /// Converts the element to the compute field.
    fn to_compute_field(self) -> Self::Compute;

    /// Converts `elements` to the compute field and writes them to `to`, up to the shorter length.
    fn to_compute_field_all(elements: &[Self], to: &mut [Self::Compute]) {
        to.iter_mut().zip(elements).for_each(|(to, element)| *to = element.to_compute_field());
    }

    /// Converts `element` back from the compute field.
    fn from_compute_field(element: Self::Compute) -> Self;

    /// Returns `base`, an element of the base field, as an element of this field.
    fn from_base(base: Self::Base) -> Self;

    /// Returns the product of `work`, an element of the compute field, and `base`.
    fn times_base(work: Self::Compute, base: Self::Base) -> Self::Compute {
        work * Self::from_base(base).to_compute_field()
    }

    /// Returns `elements` as elements of the compute field without a copy, or `None` if they need a conversion.
    fn as_compute_field(elements: &[Self]) -> Option<&[Self::Compute]>;

    /// Returns the map from an element's bits to its bits in the compute field, or `None` if the bits are equal.
    fn conversion() -> Option<&'static LinearMap>;

    /// Returns the element of `number`. This is the multiple of one in a prime field, and the element with the number's
    /// bits in a binary field.
    fn from_number(number: u64) -> Self;

    /// Derives an element from `bytes`. It is nearly uniform if they are uniform.
    fn from_uniform(bytes: &[u8; 64]) -> Self;

    /// Appends the element to `bytes`: [`Self::BYTES`] bytes in little-endian order, canonical if the field is prime.
    fn write(&self, bytes: &mut Vec<u8>);

    /// Decodes an element from `bytes`. Returns `None` if they are not [`Self::BYTES`] bytes or encode no element.
    fn read(bytes: &[u8]) -> Option<Self>;
}

/// Represents a field in which rounds are computed, with operations on slices of elements.
pub trait ComputeField: SumcheckField<Compute = Self> {
    /// Computes `a[i] = a[i]·b[i]`, up to the shorter length.
    fn multiply(a: &mut [Self], b: &[Self]);

    /// Returns `Σ a[i]·b[i]`, up to the shorter length.
    fn sum_of_products(a: &[Self], b: &[Self]) -> Self;

    /// Computes `low[i] += factor·(high[i] − low[i])`, up to the shorter length.
    fn fold(low: &mut [Self], high: &[Self], factor: Self);

    /// Returns the product with the element that [`SumcheckField::from_number`] returns for 2. In a binary field this
    /// is x, not zero.
    #[must_use]
    fn times_element_two(self) -> Self {
        self.double()
    }

    /// Converts a tower element to this field, or returns `None` if this field is not binary.
    fn from_tower(_: Tower) -> Option<Self> {
        None
    }

    /// Converts this element to the tower, or returns `None` if this field is not binary.
    fn to_tower(self) -> Option<Tower> {
        None
    }
}

impl<F: NttField> SumcheckField for F {
    type Compute = Self;
    type Base = Self;
    const BYTES: usize = size_of::<F>();

    fn from_base(base: Self) -> Self {
        base
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

    fn from_uniform(bytes: &[u8; 64]) -> Self {
        let limb_size = Self::from(1 << 32).square();
        let limbs = bytes.as_chunks().0.iter().map(|limb| Self::from(u64::from_le_bytes(*limb)));
        limbs.rfold(Self::ZERO, |sum, limb| sum * limb_size + limb)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.to_repr().as_ref());
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut repr = F::Repr::default();
        if repr.as_ref().len() != bytes.len() {
            return None;
        }
        repr.as_mut().copy_from_slice(bytes);
        Self::from_repr(repr).into()
    }
}

impl<F: NttField> ComputeField for F {
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

/// Implements the items of `SumcheckField` that are equal for `Ghash` and `Tower`.
macro_rules! binary {
    ($type:ident) => {
        const BYTES: usize = 16;
        type Compute = Ghash;
        type Base = Self;

        fn from_base(base: Self) -> Self {
            base
        }

        fn from_number(number: u64) -> Self {
            Self(number.into())
        }

        fn from_uniform(bytes: &[u8; 64]) -> Self {
            Self(bytes.as_chunks().0.iter().fold(0, |sum, part| sum ^ u128::from_le_bytes(*part)))
        }

        fn write(&self, bytes: &mut Vec<u8>) {
            bytes.extend_from_slice(&self.0.to_le_bytes());
        }

        fn read(bytes: &[u8]) -> Option<Self> {
            Some(Self(u128::from_le_bytes(bytes.try_into().ok()?)))
        }
    };
}

impl SumcheckField for Ghash {
    binary!(Ghash);

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
}

impl SumcheckField for Tower {
    binary!(Tower);

    fn to_compute_field(self) -> Ghash {
        self.into()
    }

    fn to_compute_field_all(elements: &[Self], to: &mut [Ghash]) {
        isomorphism::to_ghash().apply_all(Self::peel_slice(elements), Ghash::peel_slice_mut(to));
    }

    fn from_compute_field(element: Ghash) -> Self {
        element.into()
    }

    fn as_compute_field(_: &[Self]) -> Option<&[Ghash]> {
        None
    }

    fn conversion() -> Option<&'static LinearMap> {
        Some(isomorphism::to_ghash())
    }
}

impl ComputeField for Ghash {
    fn multiply(a: &mut [Self], b: &[Self]) {
        Multiplier::fastest().multiply(Self::peel_slice_mut(a), Self::peel_slice(b));
    }

    fn sum_of_products(a: &[Self], b: &[Self]) -> Self {
        Self(Multiplier::fastest().sum_of_products(Self::peel_slice(a), Self::peel_slice(b)))
    }

    fn fold(low: &mut [Self], high: &[Self], factor: Self) {
        Multiplier::fastest().fold(Self::peel_slice_mut(low), Self::peel_slice(high), factor.0);
    }

    fn times_element_two(self) -> Self {
        self.times_x()
    }

    fn from_tower(element: Tower) -> Option<Self> {
        Some(element.into())
    }

    fn to_tower(self) -> Option<Tower> {
        Some(self.into())
    }
}

#[cfg(test)]
mod tests {
    use ff::Field as _;

    use super::*;

    fn check_encoding<F: SumcheckField>(modulus: Option<&[u8]>) {
        let mut element = F::from_uniform(&std::array::from_fn(|i| (i as u8).wrapping_mul(7).wrapping_add(1)));
        for _ in 0..20 {
            let mut bytes = Vec::new();
            element.write(&mut bytes);
            assert_eq!((bytes.len(), F::read(&bytes)), (F::BYTES, Some(element)));
            assert_eq!(F::read(&bytes[1..]), None);
            assert_eq!(F::from_compute_field(element.to_compute_field()), element);
            element = element.square() + F::from_number(3);
        }
        assert_eq!(
            element.to_compute_field().times_element_two(),
            element.to_compute_field() * F::Compute::from_number(2)
        );
        assert_eq!(F::from_number(1), F::ONE);
        assert!(modulus.is_none_or(|bytes| F::read(bytes).is_none()));
    }

    #[test]
    fn elements_are_written_and_read() {
        check_encoding::<crate::curve::bls12_377::Fr>(Some(&[0xff; 32]));
        check_encoding::<blstrs::Scalar>(Some(&[0xff; 32]));
        check_encoding::<halo2curves::bn256::Fr>(Some(&[0xff; 32]));
        check_encoding::<pasta_curves::Fp>(Some(&[0xff; 32]));
        check_encoding::<pasta_curves::Fq>(Some(&[0xff; 32]));
        check_encoding::<Ghash>(None);
        check_encoding::<Tower>(None);
    }

    /// Checks that 64 bytes of 0xff stand for the number 2^512 − 1.
    #[test]
    fn uniform_bytes_are_a_number() {
        type F = halo2curves::bn256::Fr;
        assert_eq!(F::from_uniform(&[0xff; 64]), F::from(2).pow_vartime([512]) - F::ONE);
    }
}
