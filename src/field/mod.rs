//! The fields on which transforms and sums run, as typed views of memory, and the binary fields of 128 bits.
//!
//! On the host and on the device an element is R·a mod p with R = 2^(32·limbs) (Montgomery form), in little-endian
//! limbs. This is the Rust types' own memory, so slices are copied as they are.
//!
//! Goldilocks' elements are the numbers themselves, R = 1, and need not be below p: any 64 bits are an element.
//!
//! All functions on other elements expect limbs below p, as all code that computes with a type makes them. Unchecked
//! readers of raw bytes may make others; their results are meaningless and differ from backend to backend. [`check_reduced`]
//! refuses them.

mod binary_field_macros;
pub mod bitslice;
mod device_vector;
pub mod ghash;
mod host_vector;
pub mod isomorphism;
pub mod linear;
#[cfg(feature = "plonky3")]
pub mod plonky3;
pub mod tower;

use std::cmp::Ordering;

use ff::{Field, PrimeField};
use rayon::prelude::*;

pub use device_vector::DeviceVector;
pub use host_vector::HostVector;

use crate::kernels;
use crate::module_launcher::KernelModule;
use crate::rayon_waits::check_host_threads;
use crate::{Error, Result};

/// Represents a field whose elements devices read in the layout of host memory.
///
/// # Safety
/// A value's memory has no padding, and all zeros are a valid value. The kernels of the field that [`Self::NAME`] names
/// read and write this memory.
pub unsafe trait Element: Field {
    /// Names the field in kernels.
    const NAME: &'static str;
}

/// Represents a prime field over which there are transforms: a large power of two divides p − 1.
///
/// # Safety
/// A value's memory is exactly its Montgomery form, without padding, in little-endian limbs of the field that
/// [`Element::NAME`] names. Every bit pattern below p is a valid value.
pub unsafe trait TransformField: PrimeField + Element {}

/// Represents the scalar field of a curve.
///
/// # Safety
/// A value's memory is exactly its Montgomery form, R = 2^256, in 32 bytes of little-endian limbs. Every bit pattern
/// below p is a valid value.
pub unsafe trait ScalarField: PrimeField + Element {}

/// Represents the scalar field of a curve over which there are transforms. There are kernels of circuits, columns,
/// matrices and sumcheck over it too.
pub trait NttField: TransformField + ScalarField {}

/// Implements the traits of a scalar field for a type whose only field is its limbs, `[u64; 4]`.
macro_rules! scalar_field {
    ($type:ty, $name:expr) => {
        const _: () = assert!(size_of::<$type>() == 32 && align_of::<$type>() <= 8);
        // SAFETY: the type wraps one `[u64; 4]` in Montgomery form (its crate's documentation), and
        // a struct of the size of its only field holds that field at offset 0.
        unsafe impl Element for $type {
            const NAME: &'static str = $name;
        }
        // SAFETY: as above.
        unsafe impl ScalarField for $type {}
    };
}

/// Implements the traits of a scalar field with transforms, as `scalar_field!` does.
macro_rules! ntt_field {
    ($type:ty, $name:expr) => {
        scalar_field!($type, $name);
        // SAFETY: as above.
        unsafe impl TransformField for $type {}
        impl NttField for $type {}
    };
}

ntt_field!(blstrs::Scalar, kernels::bls12_381::FR.name);
#[cfg(feature = "bn254")]
ntt_field!(halo2curves::bn256::Fr, kernels::bn254::FR.name);
#[cfg(feature = "bn254")]
scalar_field!(halo2curves::bn256::Fq, kernels::bn254::FQ.name);
#[cfg(feature = "halo2")]
ntt_field!(halo2curves_axiom::bn256::Fr, kernels::bn254::FR.name);
#[cfg(feature = "pasta")]
ntt_field!(pasta_curves::Fp, kernels::pasta::FP.name);
#[cfg(feature = "pasta")]
ntt_field!(pasta_curves::Fq, kernels::pasta::FQ.name);

// SAFETY: the type is a number of 128 bits, all of which are elements.
unsafe impl Element for ghash::Ghash {
    const NAME: &'static str = kernels::binary::GHASH.name;
}

// SAFETY: as above.
unsafe impl Element for tower::Tower {
    const NAME: &'static str = kernels::binary::TOWER.name;
}

/// Returns the memory of `values` as bytes.
pub fn as_bytes<F: Element>(values: &[F]) -> &[u8] {
    // SAFETY: `Element` promises memory without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Returns `bytes` as elements of a field of 32 bytes without a copy, the inverse of [`as_bytes`]. Returns `None` if
/// their size or alignment does not allow that.
///
/// # Safety
/// The bytes are elements of the field; in prime fields, reduced ones in Montgomery form.
#[cfg(feature = "halo2")]
pub(crate) unsafe fn try_cast_elements<F: Element>(bytes: &[[u8; 32]]) -> Option<&[F]> {
    let start = bytes.as_ptr().cast::<F>();
    let fits = size_of::<F>() == 32 && start.is_aligned();
    // SAFETY: the bytes hold `bytes.len()` elements, and are aligned; the caller promises valid contents.
    fits.then(|| unsafe { std::slice::from_raw_parts(start, bytes.len()) })
}

/// Checks that all `elements` are below the modulus. Unchecked readers of raw bytes may make others.
///
/// # Errors
/// - [`Error::Invalid`]: an element is not below the modulus; the error names the first one.
/// - [`Error::Forked`]: [`crate::fork_check`] explains it.
/// - [`Error::Device`]: the system gives rayon no thread.
pub fn check_reduced<F: TransformField>(elements: &[F]) -> Result<()> {
    check_host_threads()?;
    let modulus = KernelModule::find(&kernels::ntt::FAMILY, F::NAME)?.modulus();
    let limbs = as_bytes(elements).par_chunks_exact(size_of::<F>());
    match limbs.position_first(|limbs| !is_below(limbs, modulus)) {
        None => Ok(()),
        Some(number) => Err(Error::invalid("field", format!("element {number}"), "limbs below the modulus", "others")),
    }
}

/// Returns whether the little-endian number `bytes` is below `modulus`, whose limbs are in little-endian order. Both
/// must have as many limbs.
pub(crate) fn is_below(bytes: &[u8], modulus: &[u32]) -> bool {
    let limbs = bytes.rchunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    limbs.cmp(modulus.iter().rev().copied()) == Ordering::Less
}

/// Returns the memory of `values` as bytes to which a device's results can be copied.
///
/// # Safety
/// Only elements are written; in prime fields, reduced ones in Montgomery form.
pub unsafe fn as_bytes_mut<F: Element>(values: &mut [F]) -> &mut [u8] {
    // SAFETY: `Element` promises memory without padding; the caller promises valid contents.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
