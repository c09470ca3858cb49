//! Transforms vectors in host memory.

use std::marker::PhantomData;

use ff::PrimeField;
use halo2curves::bn256::Fr;
use proofwarp::Abort;
use proofwarp::ntt::{Transform, transform_many};

use crate::rust_gpu_tools::{GPUError, Program};
use crate::{EcError, EcResult, fallback, type_check};

/// Computes NTTs over the field `F` on one device.
pub struct SingleFftKernel<'a, F> {
    /// The device, with kernels by name.
    pub program: Program,
    abort: Abort<'a>,
    field: PhantomData<F>,
}

impl<'a, F: PrimeField> SingleFftKernel<'a, F> {
    /// Creates a kernel for the device of `program`. During a transform the kernel polls `maybe_abort` every few
    /// milliseconds. The transform stops once the hook returns true.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the elements are not BN254's scalars.
    pub fn create(program: Program, maybe_abort: Option<&'a (dyn Fn() -> bool + Send + Sync)>) -> EcResult<Self> {
        type_check::elements::<F>(&[])?;
        Ok(Self { program, abort: maybe_abort, field: PhantomData })
    }

    /// Computes the NTT of the 2^`log_n` elements of `input` in place: X_j = Σ_i x_i · ω^(ij), where ω is `omega`.
    /// Input and output are in natural order.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the length is not 2^log_n.
    /// - [`EcError::GpuTools`]: ω is no primitive 2^log_n-th root of unity.
    /// - [`EcError::Aborted`]: the hook aborted.
    /// - [`EcError::GpuTools`]: the device failed and a backend is forced.
    /// - The input is unchanged after an error.
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.run(input, Transform::new(log_n, type_check::element(omega)?))
    }

    /// Computes the NTT of [`Self::radix_fft`] in place, and multiplies all results by `divisor`. For an inverse NTT,
    /// `omega` is the inverse root of unity and `divisor` is 1/n.
    ///
    /// # Errors
    /// Returns the errors of [`Self::radix_fft`].
    pub fn radix_ifft(&mut self, input: &mut [F], omega: &F, divisor: &F, log_n: u32) -> EcResult<()> {
        let scale = Some(type_check::element(divisor)?);
        self.run(input, Transform { scale, ..Transform::new(log_n, type_check::element(omega)?) })
    }

    fn run(&self, input: &mut [F], transform: Transform<Fr>) -> EcResult<()> {
        let input = type_check::elements_mut(input)?;
        fallback::run(&self.program, self.abort, |accelerator, abort| {
            transform_many(accelerator, &mut [&mut *input], &[transform], abort).map(drop)
        })
    }
}

/// Holds a kernel for NTTs over the field `F` on each of several devices.
pub struct FftKernel<'a, F> {
    /// One kernel per device.
    pub kernels: Vec<SingleFftKernel<'a, F>>,
}

impl<F: PrimeField> FftKernel<'_, F> {
    /// Creates a kernel on the device of each of `programs`.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: there is no program. It holds [`GPUError::DeviceNotFound`].
    /// - [`EcError::GpuTools`]: the elements are not BN254's scalars.
    pub fn create(programs: Vec<Program>) -> EcResult<Self> {
        if programs.is_empty() {
            return Err(EcError::GpuTools(GPUError::DeviceNotFound));
        }
        let kernels = programs.into_iter().map(|program| SingleFftKernel::create(program, None));
        Ok(Self { kernels: kernels.collect::<EcResult<_>>()? })
    }

    /// Computes the NTT of `input` in place on the first device, as [`SingleFftKernel::radix_fft`] does.
    ///
    /// # Errors
    /// Returns the errors of [`SingleFftKernel::radix_fft`].
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.kernels[0].radix_fft(input, omega, log_n)
    }
}
