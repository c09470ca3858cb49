//! Defines the entries of dense matrices, which of them can be multiplied, and the host's accumulator of unreduced
//! products of 256 bits.

use std::fmt;

use ff::PrimeField;

use crate::Result;
#[cfg(doc)]
use crate::field::NttField;
use crate::field::{Element, as_bytes};
use crate::kernels;

/// Selects the kind of entries of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// Field elements.
    Field,
    /// Signed bytes, `i8`.
    Byte,
    /// Signed 32-bit integers, `i32`.
    Word,
}

/// Describes the elements of a prime field that dense matrices support: the fields of [`NttField`], and Plonky3's
/// Goldilocks and BabyBear.
///
/// # Safety
/// A value's memory is the number or its Montgomery form, in little-endian limbs of the field that [`Element::NAME`]
/// names, without padding. Every value that [`Self::check_limbs`] accepts is valid.
pub unsafe trait DenseField: PrimeField + Element {
    /// Checks that the limbs of all `elements` are below the modulus, if the field requires it.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): an element has such limbs. The error names the first one.
    fn check_limbs(elements: &[Self]) -> Result<()>;

    /// Writes the dot product of `row` and column i to `out[i]`, on the host. `columns` holds the columns one after the
    /// other, each as long as `row`.
    #[doc(hidden)]
    fn sums_of_products(row: &[Self], columns: &[Self], out: &mut [Self]) -> Result<()>;

    /// Writes the dot product of the integers `row` and column i to `out[i]`, on the host. `columns` holds the columns
    /// one after the other, each as long as `row`.
    #[doc(hidden)]
    fn sums_of_integer_products<N: SmallInteger>(row: &[N], columns: &[Self], out: &mut [Self]) -> Result<()>;
}

/// An integer type, `i8` or `i32`, whose values multiply field elements.
#[doc(hidden)]
pub trait SmallInteger: Copy + Into<i64> + Sync {}

impl SmallInteger for i8 {}

impl SmallInteger for i32 {}

/// A type of entries that a dense matrix can hold: elements of a [`DenseField`], `i8` or `i32`.
///
/// # Safety
/// A value's memory has no padding, and all zeros are a valid value. Its layout is the one that kernels of
/// [`Self::FIELD`] read and write for [`Self::KIND`].
pub unsafe trait Entry: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Kind of entries that the type holds.
    const KIND: ElementKind;
    /// Name of the type in messages and reports, such as `i8`.
    const NAME: &'static str;
    /// Name of the field whose kernels process these entries. Integers use those of BN254, although any would do.
    const FIELD: &'static str;
    /// Checks that all `entries` are valid. A field element is invalid if its limbs are not below the modulus.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): a value is invalid. The error names the first one.
    fn check(entries: &[Self]) -> Result<()>;
}

// SAFETY: `DenseField` promises limbs as the kernels of the field take them.
unsafe impl<F: DenseField> Entry for F {
    const KIND: ElementKind = ElementKind::Field;
    const NAME: &'static str = <F as Element>::NAME;
    const FIELD: &'static str = <F as Element>::NAME;

    fn check(entries: &[Self]) -> Result<()> {
        F::check_limbs(entries)
    }
}

/// Implements [`Entry`] for an integer type, all of whose bit patterns are valid.
macro_rules! number {
    ($type:ty, $kind:expr, $name:expr) => {
        // SAFETY: a primitive number in the host's order, which is the devices'.
        unsafe impl Entry for $type {
            const KIND: ElementKind = $kind;
            const NAME: &'static str = $name;
            const FIELD: &'static str = kernels::bn254::FR.name;

            fn check(_: &[Self]) -> Result<()> {
                Ok(())
            }
        }
    };
}

number!(i8, ElementKind::Byte, "i8");
number!(i32, ElementKind::Word, "i32");

/// A type of entries that can be multiplied by entries of type `B`. Elements multiply elements of the same field,
/// integers multiply elements, and bytes multiply bytes.
///
/// Transposes give the other order: `A·B = (Bᵀ·Aᵀ)ᵀ`. A transposed view costs nothing.
pub trait MatMulElement<B: Entry>: Entry {
    /// Type of entries that the product has.
    type Product: Entry;

    /// Writes the dot product of `row` and column i to `out[i]`, on the host. `columns` holds the columns one after the
    /// other, each as long as `row`.
    #[doc(hidden)]
    fn row_times_columns(row: &[Self], columns: &[B], out: &mut [Self::Product]) -> Result<()>;
}

/// Returns the memory of `entries` as bytes.
pub(super) fn bytes_of<T: Entry>(entries: &[T]) -> &[u8] {
    // SAFETY: `Entry` promises memory without padding.
    unsafe { std::slice::from_raw_parts(entries.as_ptr().cast(), size_of_val(entries)) }
}

/// Returns the memory of `entries` as mutable bytes, into which entries of the same type may be copied.
///
/// # Safety
/// The caller may write only valid entries.
pub(super) unsafe fn bytes_of_mut<T: Entry>(entries: &mut [T]) -> &mut [u8] {
    // SAFETY: `Entry` promises memory without padding; the caller promises valid contents.
    unsafe { std::slice::from_raw_parts_mut(entries.as_mut_ptr().cast(), size_of_val(entries)) }
}

/// Returns the stored limbs of `element` as four little-endian 64-bit words. Missing upper limbs are 0.
pub(super) fn limbs<F: Element>(element: &F) -> [u64; 4] {
    let words = as_bytes(std::slice::from_ref(element)).as_chunks().0;
    std::array::from_fn(|i| words.get(i).map_or(0, |word| u64::from_le_bytes(*word)))
}

/// Holds a sum of unreduced products of two elements below 2^255, in nine little-endian 64-bit limbs. Up to 2^66
/// products fit.
#[derive(Default, Clone, Copy)]
pub(super) struct WideAccumulator(pub [u64; 9]);

impl WideAccumulator {
    pub(super) fn add_product(&mut self, a: [u64; 4], b: [u64; 4]) {
        let mut product = [0u64; 8];
        for i in 0..4 {
            let mut carry = 0;
            for j in 0..4 {
                let word = u128::from(a[i]) * u128::from(b[j]) + u128::from(product[i + j]) + carry;
                product[i + j] = word as u64;
                carry = word >> 64;
            }
            product[i + 4] = carry as u64;
        }
        self.0[8] += add_with_carry(&mut self.0[..8], &product);
    }

    /// Adds `number`·2^(64·`at`) to the sum. `number` is below 2^127, and the result must fit the nine limbs.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn add_shifted(&mut self, at: usize, number: u128) {
        let mut more = [0; 9];
        more[0] = number as u64;
        more[1] = (number >> 64) as u64;
        add_with_carry(&mut self.0[at..], &more);
    }
}

/// Holds a sum of products of an integer below 2^32 and an element, in five little-endian 64-bit limbs. At least 2^32
/// products fit.
#[derive(Default, Clone, Copy)]
pub(super) struct NarrowAccumulator(pub [u64; 5]);

impl NarrowAccumulator {
    pub(super) fn add_product(&mut self, a: u64, b: [u64; 4]) {
        let mut carry = 0;
        for (sum, limb) in self.0.iter_mut().zip(b) {
            let word = u128::from(a) * u128::from(limb) + u128::from(*sum) + carry;
            *sum = word as u64;
            carry = word >> 64;
        }
        self.0[4] += carry as u64;
    }
}

/// Adds the little-endian number `from` to `to` over their common length and returns the carry, 0 or 1. It uses
/// overflow flags, which compilers turn into additions with carry, unlike sums of wider words.
pub(super) fn add_with_carry(to: &mut [u64], from: &[u64]) -> u64 {
    let carry = to.iter_mut().zip(from).fold(false, |carry, (to, from)| {
        let (word, first) = to.overflowing_add(*from);
        let (word, second) = word.overflowing_add(u64::from(carry));
        *to = word;
        first | second
    });
    u64::from(carry)
}

/// Adds the unreduced dot product Σ a\[i\]·b\[i\] of the stored limbs to `sum`.
pub(super) fn add_products<F: Element>(sum: &mut WideAccumulator, a: &[F], b: &[F]) {
    a.iter().zip(b).for_each(|(a, b)| sum.add_product(limbs(a), limbs(b)));
}
