//! Computes fast Fourier transforms on devices.

use std::any::type_name;
use std::sync::Once;

use ec_gpu::GpuName;
use ff::Field;
use proofwarp::Accelerator;
use proofwarp::backend::Abort;
use proofwarp::rayon_waits::run_off_pool;

use crate::forced_backend::FailureGuard;
use crate::rust_gpu_tools::{Program, accelerator_from_programs};
use crate::type_dispatch::{self, Ntt};
use crate::{EcError, EcResult};

/// Says how to get transforms over fields of pasta_curves.
const NEEDS_PASTA: &str =
    "proofwarp transforms over the fields of pasta_curves 0.5 only with the feature `pasta` of ec-gpu-gen";

/// Returns proofwarp's NTT over the field `F`.
///
/// # Errors
/// - [`EcError::Simple`]: this build does not support the field. If a feature would add it, the error and the log name the
///   feature. A forced backend has then failed.
fn find_ntt<F: Field>() -> EcResult<Ntt<F>> {
    static WARNED: Once = Once::new();
    match type_dispatch::find_ntt::<F>() {
        Some(ntt) => Ok(ntt),
        None if type_name::<F>().starts_with("pasta_curves::") => {
            WARNED.call_once(|| log::warn!("{NEEDS_PASTA}"));
            FailureGuard::start().end(Err(EcError::Simple(NEEDS_PASTA)))
        }
        None => Err(EcError::Simple("proofwarp has no transform over this field")),
    }
}

/// Holds the NTT over the field `F` and the devices that run it.
struct Transforms<'a, F> {
    accelerator: Accelerator,
    ntt: Ntt<F>,
    abort: Abort<'a>,
}

impl<'a, F: Field> Transforms<'a, F> {
    fn new(programs: &[Program], abort: Abort<'a>) -> EcResult<Self> {
        let ntt = find_ntt::<F>()?;
        Ok(Self { accelerator: accelerator_from_programs(programs)?, ntt, abort })
    }

    fn run(&self, inputs: &mut [&mut [F]], omegas: &[F], log_ns: &[u32]) -> EcResult<()> {
        let watch = FailureGuard::start();
        // Jobs of the caller's pool may wait for the lock that bellperson holds on the devices meanwhile.
        let done = run_off_pool(|| (self.ntt)(&self.accelerator, inputs, omegas, log_ns, self.abort));
        watch.end(done.map_err(EcError::from))
    }
}

/// Computes NTTs over the field `F` on one device.
pub struct SingleFftKernel<'a, F>
where
    F: Field + GpuName,
{
    transforms: Transforms<'a, F>,
}

impl<'a, F: Field + GpuName> SingleFftKernel<'a, F> {
    /// Creates a kernel for the device of `program`. During a transform the kernel polls `maybe_abort` every few
    /// milliseconds. The transform stops once the hook returns true.
    ///
    /// # Errors
    /// - [`EcError::Simple`]: proofwarp does not know the field, or needs a feature for it.
    /// - [`EcError::GpuTools`]: the program's backend is not available.
    pub fn create(program: Program, maybe_abort: Option<&'a (dyn Fn() -> bool + Send + Sync)>) -> EcResult<Self> {
        Ok(Self { transforms: Transforms::new(&[program], maybe_abort)? })
    }

    /// Computes the NTT of the 2^`log_n` elements of `input` in place: X_j = Σ_i x_i · ω^(ij), where ω is `omega`.
    /// Input and output are in natural order.
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

/// Computes NTTs over the field `F` on several devices.
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
    /// - [`EcError::Simple`]: proofwarp does not know the field, or needs a feature for it.
    /// - [`EcError::Simple`]: there is no program.
    /// - [`EcError::GpuTools`]: there is no program because the search for devices failed.
    /// - [`EcError::GpuTools`]: the programs' backend is not available.
    pub fn create(programs: Vec<Program>) -> EcResult<Self> {
        Self::create_optional_abort(&programs, None)
    }

    /// Creates a kernel for the devices of `programs`. During a transform the kernel polls `maybe_abort` every few
    /// milliseconds. The transform stops once the hook returns true.
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

    /// Computes the NTT of the 2^`log_n` elements of `input` in place: X_j = Σ_i x_i · ω^(ij), where ω is `omega`.
    /// Input and output are in natural order.
    ///
    /// # Errors
    /// Returns the errors of [`SingleFftKernel::radix_fft`].
    pub fn radix_fft(&mut self, input: &mut [F], omega: &F, log_n: u32) -> EcResult<()> {
        self.radix_fft_many(&mut [input], &[*omega], &[log_n])
    }

    /// Computes the NTT of each vector of `inputs` in place, and spreads the vectors over the devices. Vector i has
    /// 2^`log_ns[i]` elements and the root of unity `omegas[i]`. Either all vectors are transformed or none.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the numbers of vectors, roots and logarithms differ.
    /// - The errors of [`Self::radix_fft`].
    /// - Every input is unchanged after an error.
    pub fn radix_fft_many(&mut self, inputs: &mut [&mut [F]], omegas: &[F], log_ns: &[u32]) -> EcResult<()> {
        self.transforms.run(inputs, omegas, log_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<F: Field>() -> Option<String> {
        find_ntt::<F>().err().map(|error| error.to_string())
    }

    #[test]
    fn fields_of_pasta_curves_need_a_feature() {
        for error in [error::<pasta_curves::Fp>(), error::<pasta_curves::Fq>()] {
            assert_eq!(error.is_none(), cfg!(feature = "pasta"));
            assert!(error.is_none_or(|error| error.contains("the feature `pasta` of ec-gpu-gen")));
        }
        assert!(error::<blstrs::Scalar>().is_none());
        assert!(error::<blstrs::Fp>().is_some_and(|error| error.contains("has no transform")));
    }
}
