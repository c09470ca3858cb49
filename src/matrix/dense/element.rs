//! Defines the entries of dense matrices, and which of them can be multiplied.

use std::fmt;

use ff::PrimeField;

use crate::Result;
#[cfg(doc)]
use crate::field::NttField;
use crate::field::{Element, as_bytes};
use crate::kernels::field_and_curve_names;

/// Distinguishes the three kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// Field elements.
    Field,
    /// Signed bytes.
    Byte,
    /// Signed numbers of 32 bits.
    Word,
}

/// A prime field that dense matrices support: those of [`NttField`], and Plonky3's Goldilocks and BabyBear.
///
/// # Safety
/// A value's memory is the number or its Montgomery form, in little-endian limbs of the field that [`Element::NAME`]
/// names, without padding. Every value that [`Self::check_limbs`] accepts is valid.
pub unsafe trait DenseField: PrimeField + Element {
    /// Refuses limbs that are not below the modulus, if the field requires that.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): an element has such limbs. The error names the first one.
    fn check_limbs(elements: &[Self]) -> Result<()>;

    /// Writes the product of `row` with each column to `out`, on the host. Columns follow one another, each as long as
    /// the row.
    #[doc(hidden)]
    fn sums_of_products(row: &[Self], columns: &[Self], out: &mut [Self]) -> Result<()>;

    /// Writes the product of a `row` of numbers with each column to `out`, on the host.
    #[doc(hidden)]
    fn sums_of_numbers<N: Number>(row: &[N], columns: &[Self], out: &mut [Self]) -> Result<()>;
}

/// A small number that multiplies elements.
#[doc(hidden)]
pub trait Number: Copy + Into<i64> + Sync {}

impl Number for i8 {}

impl Number for i32 {}

/// A type that a matrix can hold: the scalar fields' elements, `i8` and `i32`.
///
/// # Safety
/// A value's memory has no padding, and all zeros are a valid value. Its layout is the one that kernels of
/// [`Self::FIELD`] read and write for [`Self::KIND`].
pub unsafe trait Entry: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Tells field elements from numbers.
    const KIND: ElementKind;
    /// The entries' name.
    const NAME: &'static str;
    /// The field whose kernels take them; for numbers, any.
    const FIELD: &'static str;
    /// Refuses invalid values: limbs of a field that are not below its modulus.
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

/// Implements [`Entry`] for numbers, all of whose bit patterns are values.
macro_rules! number {
    ($type:ty, $kind:expr, $name:expr) => {
        // SAFETY: a primitive number in the host's order, which is the devices'.
        unsafe impl Entry for $type {
            const KIND: ElementKind = $kind;
            const NAME: &'static str = $name;
            const FIELD: &'static str = field_and_curve_names::BN254_FR;

            fn check(_: &[Self]) -> Result<()> {
                Ok(())
            }
        }
    };
}

number!(i8, ElementKind::Byte, "i8");
number!(i32, ElementKind::Word, "i32");

/// An entry that can be multiplied by `B`: elements by elements of the same field, numbers by elements, bytes by bytes.
///
/// Transposes give the other order: `A·B = (Bᵀ·Aᵀ)ᵀ`. A transposed view costs nothing.
pub trait MatMulElement<B: Entry>: Entry {
    /// The type of sums of products.
    type Product: Entry;

    /// Writes the product of `row` with each column to `out`, on the host. Columns follow one another, each as long as
    /// the row.
    #[doc(hidden)]
    fn row_times_columns(row: &[Self], columns: &[B], out: &mut [Self::Product]) -> Result<()>;
}

/// Returns the memory of `entries` as bytes.
pub(super) fn bytes_of<T: Entry>(entries: &[T]) -> &[u8] {
    // SAFETY: `Entry` promises memory without padding.
    unsafe { std::slice::from_raw_parts(entries.as_ptr().cast(), size_of_val(entries)) }
}

/// Returns the memory of `entries` as bytes, to fill with a device's entries of the same type.
///
/// # Safety
/// The caller may write only valid entries.
pub(super) unsafe fn bytes_of_mut<T: Entry>(entries: &mut [T]) -> &mut [u8] {
    // SAFETY: `Entry` promises memory without padding; the caller promises valid contents.
    unsafe { std::slice::from_raw_parts_mut(entries.as_mut_ptr().cast(), size_of_val(entries)) }
}

/// Returns the 64-bit limbs of `element`, with zeros for those that it lacks.
pub(super) fn limbs<F: Element>(element: &F) -> [u64; 4] {
    let words = as_bytes(std::slice::from_ref(element)).as_chunks().0;
    std::array::from_fn(|i| words.get(i).map_or(0, |word| u64::from_le_bytes(*word)))
}
