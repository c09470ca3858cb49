//! Recognises BN254's field and curve in types of any crate, by their memory. The interface is generic, so an unknown
//! type has to be an error instead of a failed compilation.

use std::any::type_name;

use ff::PrimeField;
use group::prime::PrimeCurveAffine;
use group::{Curve as _, Group as _};
use halo2curves::bn256::{Fr, G1Affine};
use proofwarp::Error;

use crate::rust_gpu_tools::GPUError;

/// Arbitrary number whose square must have the same bytes in both types.
const SAMPLE: u64 = 0x1234_5678_9abc;

type Result<T> = std::result::Result<T, GPUError>;

/// Reinterprets `values` as elements of proofwarp's type [`Fr`], without a copy.
///
/// # Errors
/// - [`GPUError::Generic`]: the elements are not BN254's scalars in Montgomery form.
pub(crate) fn elements<F: PrimeField>(values: &[F]) -> Result<&[Fr]> {
    check_field::<F>()?;
    // SAFETY: the types have the same size, alignment and memory for the same elements.
    Ok(unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) })
}

/// Reinterprets `values` as mutable elements of proofwarp's type [`Fr`], without a copy. In both types all elements are
/// below the modulus.
///
/// # Errors
/// Returns the errors of [`elements`].
pub(crate) fn elements_mut<F: PrimeField>(values: &mut [F]) -> Result<&mut [Fr]> {
    check_field::<F>()?;
    // SAFETY: as in `elements`.
    Ok(unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) })
}

/// Converts `value` to proofwarp's type [`Fr`].
///
/// # Errors
/// Returns the errors of [`elements`].
pub(crate) fn element<F: PrimeField>(value: &F) -> Result<Fr> {
    elements(std::slice::from_ref(value)).map(|values| values[0])
}

/// Reinterprets `points` as proofwarp's type [`G1Affine`], without a copy.
///
/// # Errors
/// - [`GPUError::Generic`]: the points are not those of BN254's first group. Each is stored as two coordinates in
///   Montgomery form, zeros for infinity.
pub(crate) fn points<G: PrimeCurveAffine>(points: &[G]) -> Result<&[G1Affine]> {
    check_curve::<G>()?;
    // SAFETY: the types have the same size, alignment and memory for the same points.
    Ok(unsafe { std::slice::from_raw_parts(points.as_ptr().cast(), points.len()) })
}

/// Converts `point` to the caller's type of projective points.
///
/// # Errors
/// Returns the errors of [`points`].
pub(crate) fn point<G: PrimeCurveAffine>(point: G1Affine) -> Result<G::Curve> {
    check_curve::<G>()?;
    // SAFETY: as in `points`; the point's bytes are copied unchanged.
    let point: G = unsafe { std::mem::transmute_copy(&point) };
    Ok(point.to_curve())
}

/// Checks that elements of type `F` have the same memory layout as [`Fr`]. The bytes of −1 tell the modulus, those of 1
/// the Montgomery form.
fn check_field<F: PrimeField>() -> Result<()> {
    let theirs = [F::zero(), F::one(), -F::one(), F::from(SAMPLE).square()];
    let number = Fr::from(SAMPLE);
    let ours = [Fr::zero(), Fr::one(), -Fr::one(), number * number];
    check(&theirs, &ours)
}

/// Checks that points of type `G` have the same memory layout as [`G1Affine`], which is x and y.
fn check_curve<G: PrimeCurveAffine>() -> Result<()> {
    use halo2curves::group::prime::PrimeCurveAffine as _;
    use halo2curves::group::{Curve as _, Group as _};
    check_field::<G::Scalar>()?;
    let generator = G::generator();
    let theirs = [G::identity(), generator, -generator, generator.to_curve().double().to_affine()];
    let generator = G1Affine::generator();
    let ours = [G1Affine::identity(), generator, -generator, generator.to_curve().double().to_affine()];
    check(&theirs, &ours)
}

/// Checks that the samples `theirs` and `ours` have the same size, alignment and bytes.
fn check<A, B>(theirs: &[A], ours: &[B]) -> Result<()> {
    let like = size_of::<A>() == size_of::<B>() && align_of::<A>() == align_of::<B>();
    if like && memory(theirs) == memory(ours) {
        return Ok(());
    }
    Err(Error::invalid("ec-gpu-gen", "type", format!("one that is {} in memory", type_name::<B>()), type_name::<A>())
        .into())
}

fn memory<T>(values: &[T]) -> &[u8] {
    // SAFETY: callers' types are as large as one or two numbers of 254 bits rounded up to words, so they have no room
    // for padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}
