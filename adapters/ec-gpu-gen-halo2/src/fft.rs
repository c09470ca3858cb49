//! Transforms of vectors in host memory.

use std::marker::PhantomData;

use ff::PrimeField;
use halo2curves::bn256::Fr;
use proofwarp::Abort;
use proofwarp::ntt::{Transform, transform_many};

use crate::rust_gpu_tools::{GPUError, Program};
use crate::{EcError, EcResult, fallback, known};

/// Transforms on one device.
pub struct SingleFftKernel<'a, F> {
    /// The device, with kernels by name.
    pub program: Program,
    abort: Abort<'a>,
    field: PhantomData<F>,
}

impl<'a, F: PrimeField> SingleFftKernel<'a, F> {
    /// Makes ready to transform on the program's device; `maybe_abort` is asked every few milliseconds while a transform runs,
    /// and ends it when it returns true.
    ///
    /// # Errors
    /// The elements are not BN254's scalars.
    pub fn create(program: Program, maybe_abort: Option<&'a (dyn Fn() -> bool + Send + Sync)>) -> EcResult<Self> {
        known::elements::<F>(&[])?;
        Ok(Self { program, abort: maybe_abort, field: PhantomData })
    }

    /// Transforms 2^log_n elements in place, natural order in and out: X_j = Σ_i x_i · ω^(ij).
    ///
    /// # Errors
    /// The length is not 2^log_n, ω is no primitive 2^log_n-th root of unity, the hook aborted, or the device failed and a
    /// backend is forced; the input is then as it was.
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.run(input, Transform::new(log_n, known::element(omega)?))
    }

    /// The same with all results multiplied by `divisor`, which is 1/n where ω is an inverse.
    ///
    /// # Errors
    /// As [`Self::radix_fft`].
    pub fn radix_ifft(&mut self, input: &mut [F], omega: &F, divisor: &F, log_n: u32) -> EcResult<()> {
        let scale = Some(known::element(divisor)?);
        self.run(input, Transform { scale, ..Transform::new(log_n, known::element(omega)?) })
    }

    fn run(&self, input: &mut [F], transform: Transform<Fr>) -> EcResult<()> {
        let input = known::elements_mut(input)?;
        fallback::run(&self.program, self.abort, |accelerator, abort| {
            transform_many(accelerator, &mut [&mut *input], &[transform], abort).map(drop)
        })
    }
}

/// Transforms on several devices.
pub struct FftKernel<'a, F> {
    /// One for each device.
    pub kernels: Vec<SingleFftKernel<'a, F>>,
}

impl<F: PrimeField> FftKernel<'_, F> {
    /// Makes ready to transform on the programs' devices.
    ///
    /// # Errors
    /// There is no program, or the elements are not BN254's scalars.
    pub fn create(programs: Vec<Program>) -> EcResult<Self> {
        if programs.is_empty() {
            return Err(EcError::GpuTools(GPUError::DeviceNotFound));
        }
        let kernels = programs.into_iter().map(|program| SingleFftKernel::create(program, None));
        Ok(Self { kernels: kernels.collect::<EcResult<_>>()? })
    }

    /// Transforms on the first of the devices, as [`SingleFftKernel::radix_fft`].
    ///
    /// # Errors
    /// As there.
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.kernels[0].radix_fft(input, omega, log_n)
    }
}
