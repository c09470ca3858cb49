//! Finds the fields and curves that proofwarp knows by their types. The stock crate's interface is generic, so an
//! unknown type must be an error instead of a failed compilation.

use std::any::{Any, TypeId};

use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use proofwarp::backend::Abort;
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;
use proofwarp::msm::{MsmOptions, msm_with_options};
use proofwarp::ntt::{Transform, transform_many};
use proofwarp::{Accelerator, BackendKind, Error, Result};

/// Holds the canonical bytes of a scalar of `G`.
pub(crate) type Repr<G> = <<G as PrimeCurveAffine>::Scalar as PrimeField>::Repr;
/// A function that computes NTTs in place: of each vector, with its root of unity and the binary logarithm of its
/// length. It changes all vectors or, after an error, none.
pub(crate) type Ntt<F> = fn(&Accelerator, &mut [&mut [F]], &[F], &[u32], Abort<'_>) -> Result<()>;
/// A function that computes Σ scalarᵢ · baseᵢ from bases and the bytes of scalars.
pub(crate) type Msm<G> = fn(&Accelerator, &[G], &[Repr<G>], Abort<'_>) -> Result<<G as PrimeCurveAffine>::Curve>;

/// Returns proofwarp's NTT over the field `F`, or `None` if this build does not support the field. Supported are all
/// fields of proofwarp whose types implement [`ec_gpu::GpuName`]; there are no kernels over others.
pub(crate) fn find_ntt<F: Field>() -> Option<Ntt<F>> {
    fn ntt_for<F: Field, K: NttField>() -> Option<Ntt<F>> {
        is_same_type::<F, K>().then_some(cast_and_ntt::<F, K>)
    }
    let ntt = ntt_for::<F, blstrs::Scalar>();
    #[cfg(feature = "pasta")]
    let ntt = ntt.or_else(ntt_for::<F, pasta_curves::Fp>).or_else(ntt_for::<F, pasta_curves::Fq>);
    ntt
}

/// Returns proofwarp's multi-scalar multiplication over points of type `G`, or `None` if proofwarp does not support the
/// curve.
pub(crate) fn find_msm<G: PrimeCurveAffine>() -> Option<Msm<G>> {
    fn msm_for<G: PrimeCurveAffine, K: MsmCurve>() -> Option<Msm<G>> {
        (is_same_type::<G, K>() && is_same_type::<Repr<G>, [u8; 32]>()).then_some(cast_and_msm::<G, K>)
    }
    msm_for::<G, blstrs::G1Affine>().or_else(msm_for::<G, blstrs::G2Affine>)
}

/// Returns the accelerator that computes on the CPU, without devices.
///
/// # Errors
/// None in practice: the CPU is always available.
pub(crate) fn cpu_accelerator() -> Result<Accelerator> {
    Accelerator::with_backend(BackendKind::Cpu)
}

fn cast_and_ntt<F: Field, K: NttField>(
    accelerator: &Accelerator,
    values: &mut [&mut [F]],
    omegas: &[F],
    log_ns: &[u32],
    abort: Abort<'_>,
) -> Result<()> {
    if omegas.len() != log_ns.len() {
        return Err(Error::invalid("radix_fft_many", "number of log_ns", omegas.len(), log_ns.len()));
    }
    let values = cast_vectors::<F, K>(values).ok_or_else(type_mismatch_error::<F, K>)?;
    let omegas = cast::<F, K>(omegas).ok_or_else(type_mismatch_error::<F, K>)?;
    let transforms: Vec<_> = omegas.iter().zip(log_ns).map(|(omega, log_n)| Transform::new(*log_n, *omega)).collect();
    transform_many(accelerator, values, &transforms, abort).map(drop)
}

fn cast_and_msm<G: PrimeCurveAffine, K: MsmCurve>(
    accelerator: &Accelerator,
    bases: &[G],
    scalars: &[Repr<G>],
    abort: Abort<'_>,
) -> Result<G::Curve> {
    let bases = cast::<G, K>(bases).ok_or_else(type_mismatch_error::<G, K>)?;
    let scalars = cast::<Repr<G>, [u8; 32]>(scalars).ok_or_else(type_mismatch_error::<Repr<G>, [u8; 32]>)?;
    let (sum, _) = msm_with_options(accelerator, bases, scalars, MsmOptions::default(), abort)?;
    (&sum as &dyn Any).downcast_ref::<G::Curve>().copied().ok_or_else(type_mismatch_error::<G::Curve, K::Curve>)
}

fn type_mismatch_error<T, U>() -> Error {
    Error::invalid("ec-gpu-gen", "type", std::any::type_name::<U>(), std::any::type_name::<T>())
}

fn is_same_type<T: 'static, U: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<U>()
}

/// Casts `values` to a slice of `U`, if `T` and `U` are the same type. Returns `None` otherwise.
fn cast<T: 'static, U: 'static>(values: &[T]) -> Option<&[U]> {
    // SAFETY: T and U are the same type.
    is_same_type::<T, U>().then(|| unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) })
}

/// Casts `values` to slices of `U`, if `T` and `U` are the same type. Returns `None` otherwise.
fn cast_vectors<'a, 'b, T: 'static, U: 'static>(values: &'a mut [&'b mut [T]]) -> Option<&'a mut [&'b mut [U]]> {
    // SAFETY: T and U are the same type, and so are the slices of them.
    is_same_type::<T, U>().then(|| unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_types_are_found_and_others_are_not() {
        assert!(find_ntt::<blstrs::Scalar>().is_some());
        let has_pasta = cfg!(feature = "pasta");
        assert!(find_ntt::<pasta_curves::Fp>().is_some() == has_pasta);
        assert!(find_ntt::<pasta_curves::Fq>().is_some() == has_pasta);
        assert!(find_ntt::<blstrs::Fp>().is_none());
        assert!(find_msm::<blstrs::G1Affine>().is_some() && find_msm::<blstrs::G2Affine>().is_some());
        assert!(find_msm::<pasta_curves::EpAffine>().is_none());
    }
}
