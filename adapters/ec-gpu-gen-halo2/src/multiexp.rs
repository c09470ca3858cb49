//! Computes multi-scalar multiplications Σ scalarᵢ · baseᵢ over bases in host memory.

use std::marker::PhantomData;
use std::sync::Arc;

use group::Group as _;
use group::prime::PrimeCurveAffine;
use halo2curves::bn256::{Fr, G1, G1Affine};
use halo2curves::group::Curve as _;
use proofwarp::msm::Scalars;
use proofwarp::ntt::{Transform, transform_many};
use proofwarp::{Abort, Accelerator, Error};

use crate::rust_gpu_tools::{Device, GPUError, Program};
use crate::threadpool::Worker;
use crate::{EcError, EcResult, base_cache, fallback, type_check};

/// Bits that every scalar fits in.
const ALL_BITS: usize = 254;

/// Runs multi-scalar multiplications on one device.
pub struct SingleMultiexpKernel<'a, G> {
    program: Program,
    abort: Abort<'a>,
    curve: PhantomData<G>,
}

impl<'a, G: PrimeCurveAffine> SingleMultiexpKernel<'a, G> {
    /// Prepares multiplications on the program's device. `maybe_abort` is polled every few milliseconds while a sum is
    /// computed, and ends it by returning true.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the program is for another device.
    /// - [`EcError::GpuTools`]: the points are not those of BN254's first group.
    pub fn create(
        program: Program,
        device: &Device,
        maybe_abort: Option<&'a (dyn Fn() -> bool + Send + Sync)>,
    ) -> EcResult<Self> {
        if !program.is_on(device) {
            let (expected, actual) = (device.name(), program.device_name());
            return Err(Error::invalid("multiexp", "device of the program", expected, actual).into());
        }
        type_check::points::<G>(&[])?;
        Ok(Self { program, abort: maybe_abort, curve: PhantomData })
    }

    /// Returns Σ scalarᵢ · baseᵢ.
    ///
    /// Bases are trusted to be infinity or points on the curve.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the lengths differ.
    /// - [`EcError::Aborted`]: the hook aborted.
    /// - [`EcError::GpuTools`]: the device failed and a backend is forced.
    pub fn multiexp(&self, bases: &[G], scalars: &[G::Scalar]) -> EcResult<G::Curve> {
        self.multiexp_bound(bases, scalars, ALL_BITS)
    }

    /// Returns Σ scalarᵢ · baseᵢ for scalars below 2^bits; the fewer bits, the less time it takes. If a scalar is
    /// longer, the sum is right too but takes longer, and the log says so.
    ///
    /// # Errors
    /// Returns the errors of [`Self::multiexp`].
    pub fn multiexp_bound(&self, bases: &[G], scalars: &[G::Scalar], bits: usize) -> EcResult<G::Curve> {
        let (points, scalars) = (type_check::points(bases)?, type_check::elements(scalars)?);
        Ok(type_check::point::<G>(self.sum(points, scalars, bits)?)?)
    }

    /// Computes [`Self::multiexp_bound`], then transforms the scalars as [`crate::fft::SingleFftKernel::radix_ifft`]
    /// does.
    ///
    /// # Errors
    /// - The errors of [`Self::multiexp_bound`].
    /// - The errors of [`crate::fft::SingleFftKernel::radix_ifft`].
    /// - The scalars are unchanged after an error.
    pub fn multiexp_bound_and_ifft(
        &self,
        bases: &[G],
        scalars: &mut [G::Scalar],
        bits: usize,
        omega: &G::Scalar,
        divisor: &G::Scalar,
        log_n: u32,
    ) -> EcResult<G::Curve> {
        let (points, scalars) = (type_check::points(bases)?, type_check::elements_mut(scalars)?);
        let scale = Some(type_check::element(divisor)?);
        let transform = Transform { scale, ..Transform::new(log_n, type_check::element(omega)?) };
        let sum = self.sum(points, scalars, bits)?;
        fallback::run(&self.program, self.abort, |accelerator, abort| {
            transform_many(accelerator, &mut [&mut *scalars], &[transform], abort).map(drop)
        })?;
        Ok(type_check::point::<G>(sum)?)
    }

    fn sum(&self, points: &[G1Affine], scalars: &[Fr], bits: usize) -> EcResult<G1Affine> {
        if points.len() != scalars.len() {
            return Err(Error::invalid("multiexp", "number of scalars", points.len(), scalars.len()).into());
        }
        let sum = fallback::run(&self.program, self.abort, |accelerator, abort| {
            sum_of_short(accelerator, points, scalars, bits, abort)
        })?;
        Ok(sum.to_affine())
    }
}

/// Returns the sum for scalars of at most `bits` bits, or computes it without that bound if one is longer.
fn sum_of_short(
    accelerator: &Accelerator,
    points: &[G1Affine],
    scalars: &[Fr],
    bits: usize,
    abort: Abort<'_>,
) -> proofwarp::Result<G1> {
    let all = Scalars::elements(scalars);
    if bits < ALL_BITS {
        // With 0 bits all scalars are zero, so they fit in 1 bit too.
        match base_cache::sum(accelerator, points, all.with_bit_length(bits.max(1) as u32), abort) {
            // The lengths agree, so the error is about a longer scalar.
            Err(error @ Error::Invalid { .. }) => log::warn!("multiexp_bound: {error}"),
            done => return done,
        }
    }
    base_cache::sum(accelerator, points, all, abort)
}

/// Runs multi-scalar multiplications on several devices.
pub struct MultiexpKernel<'a, G> {
    kernels: Vec<SingleMultiexpKernel<'a, G>>,
}

impl<G: PrimeCurveAffine> MultiexpKernel<'_, G> {
    /// Prepares multiplications on `devices`, which are those of `programs`.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: there is no program. It holds [`GPUError::DeviceNotFound`].
    /// - [`EcError::GpuTools`]: the programs and devices differ in number, or a program is for another device.
    /// - [`EcError::GpuTools`]: the points are not those of BN254's first group.
    pub fn create(programs: Vec<Program>, devices: &[&Device]) -> EcResult<Self> {
        if programs.is_empty() {
            return Err(EcError::GpuTools(GPUError::DeviceNotFound));
        }
        if programs.len() != devices.len() {
            return Err(Error::invalid("multiexp", "number of devices", programs.len(), devices.len()).into());
        }
        let pairs = programs.into_iter().zip(devices);
        let kernels = pairs.map(|(program, device)| SingleMultiexpKernel::create(program, device, None));
        Ok(Self { kernels: kernels.collect::<EcResult<_>>()? })
    }

    /// Returns Σ scalarᵢ · base₍ᵢ₊skip₎. Each device computes a part of it, one after the other.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: there are fewer bases than `skip` and scalars together.
    /// - The errors of [`SingleMultiexpKernel::multiexp`].
    pub fn multiexp(
        &mut self,
        _pool: &Worker,
        bases: Arc<Vec<G>>,
        scalars: Arc<Vec<G::Scalar>>,
        skip: usize,
    ) -> EcResult<G::Curve> {
        let end = skip.saturating_add(scalars.len());
        let Some(bases) = bases.get(skip..end) else {
            return Err(Error::invalid("multiexp", "number of bases", format!("at least {end}"), bases.len()).into());
        };
        let chunk = scalars.len().div_ceil(self.kernels.len()).max(1);
        let mut parts = bases.chunks(chunk).zip(scalars.chunks(chunk)).zip(&self.kernels);
        parts.try_fold(G::Curve::identity(), |sum, ((bases, scalars), kernel)| {
            Ok(sum + kernel.multiexp(bases, scalars)?)
        })
    }

    /// Returns the number of devices.
    pub fn num_kernels(&self) -> usize {
        self.kernels.len()
    }
}
