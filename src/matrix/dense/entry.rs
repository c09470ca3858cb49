//! What a dense matrix is made of, and what may be multiplied by what.

use std::fmt;

use ff::PrimeField;

use crate::Result;
#[cfg(doc)]
use crate::field::NttField;
use crate::field::{Element, as_bytes};
use crate::kernels::name;

/// The three kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Field elements.
    Field,
    /// Signed bytes.
    Byte,
    /// Signed numbers of 32 bits.
    Word,
}

/// A prime field that dense matrices are over: those of [`NttField`], and Plonky3's Goldilocks and BabyBear.
///
/// # Safety
/// A value's memory is the number or its Montgomery form, in little-endian limbs of the field that [`Element::NAME`] names,
/// without padding, and whatever [`Self::check_limbs`] takes is a valid value.
pub unsafe trait DenseField: PrimeField + Element {
    /// Refuses limbs that are not below the modulus, where they have to be.
    ///
    /// # Errors
    /// The first that is not.
    fn check_limbs(elements: &[Self]) -> Result<()>;

    /// On the host: a row's products with columns, each of as many elements, one after the other.
    #[doc(hidden)]
    fn sums_of_products(row: &[Self], columns: &[Self], out: &mut [Self]) -> Result<()>;

    /// The same for a row of numbers.
    #[doc(hidden)]
    fn sums_of_numbers<N: Number>(row: &[N], columns: &[Self], out: &mut [Self]) -> Result<()>;
}

/// A small number.
#[doc(hidden)]
pub trait Number: Copy + Into<i64> + Sync {}

impl Number for i8 {}

impl Number for i32 {}

/// What a matrix may be made of: the scalar fields' elements, `i8` and `i32`.
///
/// # Safety
/// A value's memory has no padding, all zeros are a valid value, and it is what kernels of [`Self::FIELD`] read and write for
/// [`Self::KIND`].
pub unsafe trait Entry: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Field elements or numbers.
    const KIND: Kind;
    /// The entries' name.
    const NAME: &'static str;
    /// The field whose kernels take them; for numbers, any.
    const FIELD: &'static str;
    /// Refuses what is no value: limbs of a field that are not below its modulus.
    ///
    /// # Errors
    /// The first that is not.
    fn check(entries: &[Self]) -> Result<()>;
}

// SAFETY: `DenseField` promises limbs as the kernels of the field take them.
unsafe impl<F: DenseField> Entry for F {
    const KIND: Kind = Kind::Field;
    const NAME: &'static str = <F as Element>::NAME;
    const FIELD: &'static str = <F as Element>::NAME;

    fn check(entries: &[Self]) -> Result<()> {
        F::check_limbs(entries)
    }
}

/// Numbers, all of whose bit patterns are values.
macro_rules! number {
    ($type:ty, $kind:expr, $name:expr) => {
        // SAFETY: a primitive number in the host's order, which is the devices'.
        unsafe impl Entry for $type {
            const KIND: Kind = $kind;
            const NAME: &'static str = $name;
            const FIELD: &'static str = name::BN254_FR;

            fn check(_: &[Self]) -> Result<()> {
                Ok(())
            }
        }
    };
}

number!(i8, Kind::Byte, "i8");
number!(i32, Kind::Word, "i32");

/// Entries that may be multiplied: elements by elements of the same field, numbers by elements, bytes by bytes.
///
/// The other order is by transposes: `A·B = (Bᵀ·Aᵀ)ᵀ`, and a transposed view costs nothing.
pub trait Times<B: Entry>: Entry {
    /// What sums of products are.
    type Product: Entry;

    /// On the host: a row's products with columns, each of as many entries, one after the other.
    #[doc(hidden)]
    fn row_times_columns(row: &[Self], columns: &[B], out: &mut [Self::Product]) -> Result<()>;
}

/// Number of bytes of entries.
pub(super) fn bytes_of<T: Entry>(entries: &[T]) -> &[u8] {
    // SAFETY: `Entry` promises memory without padding.
    unsafe { std::slice::from_raw_parts(entries.as_ptr().cast(), size_of_val(entries)) }
}

/// The memory of entries, for what a device has of the same type.
///
/// # Safety
/// What is written are valid entries.
pub(super) unsafe fn bytes_of_mut<T: Entry>(entries: &mut [T]) -> &mut [u8] {
    // SAFETY: `Entry` promises memory without padding; the caller promises valid contents.
    unsafe { std::slice::from_raw_parts_mut(entries.as_mut_ptr().cast(), size_of_val(entries)) }
}

/// Limbs of 64 bits, of an element that has such.
pub(super) fn limbs<F: Element>(element: &F) -> [u64; 4] {
    let words = as_bytes(std::slice::from_ref(element)).as_chunks().0;
    std::array::from_fn(|i| words.get(i).map_or(0, |word| u64::from_le_bytes(*word)))
}
