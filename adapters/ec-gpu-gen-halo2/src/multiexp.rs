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

/// Limits the bit length of scalars: all of them fit in 254 bits.
const ALL_BITS: usize = 254;

/// Computes multi-scalar multiplications (MSMs) over points of type `G` on one device.
pub struct SingleMultiexpKernel<'a, G> {
    program: Program,
    abort: Abort<'a>,
    curve: PhantomData<G>,
}

impl<'a, G: PrimeCurveAffine> SingleMultiexpKernel<'a, G> {
    /// Creates a kernel for the device of `program`, which must be `device`. During an MSM the kernel polls
    /// `maybe_abort` every few milliseconds. The MSM stops once the hook returns true.
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

    /// Returns Σ `scalars[i]` · `bases[i]`.
    ///
    /// The call does not check that bases are infinity or points on the curve.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the lengths differ.
    /// - [`EcError::Aborted`]: the hook aborted.
    /// - [`EcError::GpuTools`]: the device failed and a backend is forced.
    pub fn multiexp(&self, bases: &[G], scalars: &[G::Scalar]) -> EcResult<G::Curve> {
        self.multiexp_bound(bases, scalars, ALL_BITS)
    }

    /// Returns Σ `scalars[i]` · `bases[i]` for scalars below 2^`bits`. Fewer bits take less time. If a scalar is
    /// longer, the sum is still right, but it takes longer and the log says so.
    ///
    /// # Errors
    /// Returns the errors of [`Self::multiexp`].
    pub fn multiexp_bound(&self, bases: &[G], scalars: &[G::Scalar], bits: usize) -> EcResult<G::Curve> {
        let (points, scalars) = (type_check::points(bases)?, type_check::elements(scalars)?);
        Ok(type_check::point::<G>(self.sum(points, scalars, bits)?)?)
    }

    /// Returns the sum of [`Self::multiexp_bound`], and then transforms `scalars` in place as
    /// [`crate::fft::SingleFftKernel::radix_ifft`] does.
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

/// Returns Σ scalarᵢ · pointᵢ for scalars of at most `bits` bits. If a scalar is longer, logs a warning and computes
/// the sum without that bound.
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

/// Computes multi-scalar multiplications (MSMs) over points of type `G` on several devices.
pub struct MultiexpKernel<'a, G> {
    kernels: Vec<SingleMultiexpKernel<'a, G>>,
}

impl<G: PrimeCurveAffine> MultiexpKernel<'_, G> {
    /// Creates a kernel for `devices`. The i-th device must be that of the i-th program.
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

    /// Returns Σ `scalars[i]` · `bases[i + skip]`. Each device sums a contiguous range of the inputs, one device after
    /// the other.
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
