//! Runs stock ec-gpu-gen's own kernels, over BLS12-381. The features `stock-cuda` and `stock-opencl` build bellperson with
//! them.

use std::sync::Arc;

use anyhow::{Error, Result};
use bellperson::gpu::GpuName;
use ff::PrimeField;
use group::prime::PrimeCurveAffine;

use super::measure::{STOCK, Session};

/// Multiplies points by canonical scalars, and returns the sum.
pub type Sum<C> = Box<dyn FnMut(&Arc<Vec<C>>, &Reprs<C>) -> Result<<C as PrimeCurveAffine>::Curve>>;

/// Shares the canonical scalars of a curve.
pub type Reprs<C> = Arc<Vec<<<C as PrimeCurveAffine>::Scalar as PrimeField>::Repr>>;

/// Transforms a vector of the given binary logarithm in place, by the root of unity ω.
pub type Transform<F> = Box<dyn FnMut(&mut [F], &F, u32) -> Result<()>>;

/// Returns the name of stock ec-gpu-gen on its own kernels.
pub fn name() -> String {
    format!("ec-gpu-gen 0.7.1, {STOCK}")
}

/// Records that `stock` was left out because of `error`, such as a machine without a GPU, and drops it.
pub fn leave_out<T>(session: &mut Session, stock: &mut Option<T>, error: &Error) {
    session.leave_out(format!("{}: {error}", name()));
    *stock = None;
}

/// Returns the sum by stock's kernels, or `None` if the program was built without them.
#[cfg(any(feature = "stock-cuda", feature = "stock-opencl"))]
#[allow(clippy::unnecessary_wraps, reason = "without the features there is none")]
pub fn sum<C: PrimeCurveAffine + GpuName>() -> Option<Sum<C>> {
    let mut kernel = bellperson::gpu::LockedMultiexpKernel::<C>::new(false);
    let worker = ec_gpu_gen::threadpool::Worker::new();
    let mut sum = move |bases: &Arc<Vec<C>>, scalars: &Reprs<C>| {
        kernel.with(|kernel| Ok(kernel.multiexp(&worker, bases.clone(), scalars.clone(), 0)?))
    };
    Some(Box::new(move |bases, scalars| Ok(sum(bases, scalars)?)))
}

/// Returns the transform by stock's kernels, or `None` if the program was built without them.
#[cfg(any(feature = "stock-cuda", feature = "stock-opencl"))]
#[allow(clippy::unnecessary_wraps, reason = "without the features there is none")]
pub fn transform<F: PrimeField + GpuName>() -> Option<Transform<F>> {
    let mut kernel = bellperson::gpu::LockedFftKernel::<F>::new(false);
    Some(Box::new(move |values, omega, log| Ok(kernel.with(|kernel| Ok(kernel.radix_fft(values, omega, log)?))?)))
}

/// Returns `None`: the program was built without stock's kernels.
#[cfg(not(any(feature = "stock-cuda", feature = "stock-opencl")))]
pub fn sum<C: PrimeCurveAffine + GpuName>() -> Option<Sum<C>> {
    None
}

/// Returns `None`: the program was built without stock's kernels.
#[cfg(not(any(feature = "stock-cuda", feature = "stock-opencl")))]
pub fn transform<F: PrimeField + GpuName>() -> Option<Transform<F>> {
    None
}
