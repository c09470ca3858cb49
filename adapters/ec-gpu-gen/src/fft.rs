//! Computes fast Fourier transforms on devices.

use ec_gpu::GpuName;
use ff::Field;
use proofwarp::Accelerator;
use proofwarp::backend::Abort;

use crate::forced_backend::FailureGuard;
use crate::rust_gpu_tools::{Program, accelerator_of};
use crate::type_dispatch::{self, Ntt};
use crate::{EcError, EcResult};

/// Runs transforms on the devices of some programs.
struct Transforms<'a, F> {
    accelerator: Accelerator,
    ntt: Ntt<F>,
    abort: Abort<'a>,
}

impl<'a, F: Field> Transforms<'a, F> {
    fn new(programs: &[Program], abort: Abort<'a>) -> EcResult<Self> {
        let ntt = type_dispatch::ntt::<F>().ok_or(EcError::Simple("proofwarp has no transform over this field"))?;
        Ok(Self { accelerator: accelerator_of(programs)?, ntt, abort })
    }

    fn run(&self, inputs: &mut [&mut [F]], omegas: &[F], log_ns: &[u32]) -> EcResult<()> {
        let watch = FailureGuard::start();
        let run = |abort: Abort<'_>| (self.ntt)(&self.accelerator, inputs, omegas, log_ns, abort);
        watch.end(type_dispatch::on_devices(self.abort, run).map_err(EcError::from))
    }
}

/// Runs transforms on one device.
pub struct SingleFftKernel<'a, F>
where
    F: Field + GpuName,
{
    transforms: Transforms<'a, F>,
}

impl<'a, F: Field + GpuName> SingleFftKernel<'a, F> {
    /// Creates a kernel for the device of `program`. It polls `maybe_abort` every few milliseconds during a transform,
    /// and stops once that returns true.
    ///
    /// # Errors
    /// - [`EcError::Simple`]: proofwarp does not know the field.
    /// - [`EcError::GpuTools`]: the program's backend is not available.
    pub fn create(program: Program, maybe_abort: Option<&'a (dyn Fn() -> bool + Send + Sync)>) -> EcResult<Self> {
        Ok(Self { transforms: Transforms::new(&[program], maybe_abort)? })
    }

    /// Transforms the 2^log_n elements of `input` in place, natural order in and out: X_j = Σ_i x_i · ω^(ij).
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the length is not 2^log_n.
    /// - [`EcError::GpuTools`]: ω is not a primitive 2^log_n-th root of unity.
    /// - [`EcError::Aborted`]: the hook aborted.
    /// - [`EcError::GpuTools`]: the device failed.
    /// - The input is unchanged after an error.
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.transforms.run(&mut [input], &[*omega], &[log_n])
    }
}

/// Runs transforms on several devices.
pub struct FftKernel<'a, F>
where
    F: Field + GpuName,
{
    transforms: Transforms<'a, F>,
}

impl<'a, F> FftKernel<'a, F>
where
    F: Field + GpuName,
{
    /// Creates a kernel for the devices of `programs`.
    ///
    /// # Errors
    /// - [`EcError::Simple`]: proofwarp does not know the field.
    /// - [`EcError::Simple`]: there is no program.
    /// - [`EcError::GpuTools`]: there is no program because the search for devices failed.
    /// - [`EcError::GpuTools`]: the programs' backend is not available.
    pub fn create(programs: Vec<Program>) -> EcResult<Self> {
        Self::create_optional_abort(&programs, None)
    }

    /// Creates a kernel for the devices of `programs`. It polls `maybe_abort` every few milliseconds during a
    /// transform, and stops once that returns true.
    ///
    /// # Errors
    /// Returns the errors of [`Self::create`].
    pub fn create_with_abort(
        programs: Vec<Program>,
        maybe_abort: &'a (dyn Fn() -> bool + Send + Sync),
    ) -> EcResult<Self> {
        Self::create_optional_abort(&programs, Some(maybe_abort))
    }

    fn create_optional_abort(programs: &[Program], abort: Abort<'a>) -> EcResult<Self> {
        let transforms = Transforms::new(programs, abort)?;
        for program in programs {
            log::info!("FFT: on {}", program.device_name());
        }
        Ok(Self { transforms })
    }

    /// Transforms the 2^log_n elements of `input` in place, natural order in and out: X_j = Σ_i x_i · ω^(ij).
    ///
    /// # Errors
    /// Returns the errors of [`SingleFftKernel::radix_fft`].
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.radix_fft_many(&mut [input], &[*omega], &[log_n])
    }

    /// Transforms several vectors, spread over the devices, each as in [`Self::radix_fft`]. Either all of them are
    /// transformed or none.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the numbers of vectors, roots and logarithms differ.
    /// - The errors of [`Self::radix_fft`].
    /// - Every input is unchanged after an error.
    pub fn radix_fft_many(&mut self, inputs: &mut [&mut [F]], omegas: &[F], log_ns: &[u32]) -> EcResult<()> {
        self.transforms.run(inputs, omegas, log_ns)
    }
}
