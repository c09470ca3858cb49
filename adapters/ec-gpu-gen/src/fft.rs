//! Fast Fourier transforms on devices.

use ec_gpu::GpuName;
use ff::Field;
use proofwarp::Accelerator;
use proofwarp::backend::Abort;

use crate::forced::Watch;
use crate::known::{self, Ntt};
use crate::rust_gpu_tools::{Program, accelerator_of};
use crate::{EcError, EcResult};

/// Transforms on some devices.
struct Transforms<'a, F> {
    accelerator: Accelerator,
    ntt: Ntt<F>,
    abort: Abort<'a>,
}

impl<'a, F: Field> Transforms<'a, F> {
    fn new(programs: &[Program], abort: Abort<'a>) -> EcResult<Self> {
        let ntt = known::ntt::<F>().ok_or(EcError::Simple("proofwarp has no transform over this field"))?;
        Ok(Self { accelerator: accelerator_of(programs)?, ntt, abort })
    }

    fn run(&self, inputs: &mut [&mut [F]], omegas: &[F], log_ns: &[u32]) -> EcResult<()> {
        let watch = Watch::start();
        let run = |abort: Abort<'_>| (self.ntt)(&self.accelerator, inputs, omegas, log_ns, abort);
        watch.end(known::on_devices(self.abort, run).map_err(EcError::from))
    }
}

/// Transforms on one device.
pub struct SingleFftKernel<'a, F>
where
    F: Field + GpuName,
{
    transforms: Transforms<'a, F>,
}

impl<'a, F: Field + GpuName> SingleFftKernel<'a, F> {
    /// Makes ready to transform on the program's device; `maybe_abort` is asked every few milliseconds
    /// while a transform runs, and ends it when it returns true.
    ///
    /// # Errors
    /// proofwarp does not know the field.
    pub fn create(program: Program, maybe_abort: Option<&'a (dyn Fn() -> bool + Send + Sync)>) -> EcResult<Self> {
        Ok(Self { transforms: Transforms::new(&[program], maybe_abort)? })
    }

    /// Transforms 2^log_n elements in place, natural order in and out: X_j = Σ_i x_i · ω^(ij).
    ///
    /// # Errors
    /// The length is not 2^log_n, ω is no primitive 2^log_n-th root of unity, the hook aborted, or the
    /// device failed; the input is then as it was.
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.transforms.run(&mut [input], &[*omega], &[log_n])
    }
}

/// Transforms on several devices.
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
    /// Makes ready to transform on the programs' devices.
    ///
    /// # Errors
    /// There is no program, or proofwarp does not know the field.
    pub fn create(programs: Vec<Program>) -> EcResult<Self> {
        Self::create_optional_abort(&programs, None)
    }

    /// As [`Self::create`]; `maybe_abort` is asked every few milliseconds while a transform runs, and
    /// ends it when it returns true.
    ///
    /// # Errors
    /// As [`Self::create`].
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

    /// Transforms 2^log_n elements in place, natural order in and out: X_j = Σ_i x_i · ω^(ij).
    ///
    /// # Errors
    /// As [`SingleFftKernel::radix_fft`].
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.radix_fft_many(&mut [input], &[*omega], &[log_n])
    }

    /// Transforms several vectors, spread over the devices, each as in [`Self::radix_fft`]; all of them
    /// or none.
    ///
    /// # Errors
    /// The numbers of vectors, roots and logarithms differ, or as [`Self::radix_fft`]; every input is
    /// then as it was.
    pub fn radix_fft_many(&mut self, inputs: &mut [&mut [F]], omegas: &[F], log_ns: &[u32]) -> EcResult<()> {
        self.transforms.run(inputs, omegas, log_ns)
    }
}
