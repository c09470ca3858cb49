//! Computes multi-exponentiations on devices: Σ exponentᵢ · baseᵢ.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use ec_gpu::GpuName;
use ff::PrimeField;
use group::Group;
use group::prime::PrimeCurveAffine;
use proofwarp::backend::Abort;
use proofwarp::rayon_waits::{panic_message, run_off_pool};
use proofwarp::{Accelerator, Error};

use crate::forced_backend::FailureGuard;
use crate::rust_gpu_tools::{Device, Program, accelerator_from_programs};
use crate::threadpool::{Scope, Worker};
use crate::type_dispatch::{self, Msm};
use crate::{EcError, EcResult};

/// Computes multi-exponentiations (MSMs) over points of type `G` on one device.
pub struct SingleMultiexpKernel<'a, G>
where
    G: PrimeCurveAffine,
{
    accelerator: Accelerator,
    msm: Msm<G>,
    abort: Abort<'a>,
}

impl<'a, G> SingleMultiexpKernel<'a, G>
where
    G: PrimeCurveAffine + GpuName,
{
    /// Creates a kernel for the device of `program`. During an MSM the kernel polls `maybe_abort` every few
    /// milliseconds. The MSM stops once the hook returns true.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: `program` is not on `device`.
    /// - [`EcError::GpuTools`]: the program's backend is not available.
    /// - [`EcError::Simple`]: proofwarp does not know the curve.
    pub fn create(
        program: Program,
        device: &Device,
        maybe_abort: Option<&'a (dyn Fn() -> bool + Send + Sync)>,
    ) -> EcResult<Self> {
        if !program.is_on(device) {
            let (expected, actual) = (device.name(), program.device_name());
            return Err(Error::invalid("multiexp", "device of the program", expected, actual).into());
        }
        let msm = type_dispatch::find_msm::<G>()
            .ok_or(EcError::Simple("proofwarp has no multi-exponentiation on this curve"))?;
        Ok(Self { accelerator: accelerator_from_programs(&[program])?, msm, abort: maybe_abort })
    }

    /// Returns Σ `exponents[i]` · `bases[i]`. Exponents are little-endian integers and need not be reduced modulo the
    /// group order. Inputs that exceed the device's memory are processed in chunks.
    ///
    /// The call does not check that bases are infinity or points of the prime-order subgroup. Sums over other bases are
    /// meaningless. `proofwarp::msm::Msm::checked` refuses such bases.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the lengths differ.
    /// - [`EcError::Aborted`]: the hook aborted.
    /// - [`EcError::GpuTools`]: the device failed.
    pub fn multiexp(&self, bases: &[G], exponents: &[<G::Scalar as PrimeField>::Repr]) -> EcResult<G::Curve> {
        self.multiexp_guarded(&FailureGuard::start(), bases, exponents)
    }

    fn multiexp_guarded(
        &self,
        watch: &FailureGuard,
        bases: &[G],
        exponents: &[<G::Scalar as PrimeField>::Repr],
    ) -> EcResult<G::Curve> {
        // Jobs of the caller's pool may wait for the lock that bellperson holds on the devices meanwhile.
        let sum = run_off_pool(|| (self.msm)(&self.accelerator, bases, exponents, self.abort));
        watch.end(sum.map_err(EcError::from))
    }
}

/// Computes multi-exponentiations (MSMs) over points of type `G` on several devices.
pub struct MultiexpKernel<'a, G>
where
    G: PrimeCurveAffine,
{
    kernels: Vec<SingleMultiexpKernel<'a, G>>,
}

impl<'a, G> MultiexpKernel<'a, G>
where
    G: PrimeCurveAffine + GpuName,
{
    /// Creates a kernel for `devices`. The i-th device must be that of the i-th program.
    ///
    /// # Errors
    /// - [`EcError::Simple`]: there is no program.
    /// - [`EcError::GpuTools`]: there is no program because the search for devices failed.
    /// - [`EcError::GpuTools`]: the programs' backend is not available.
    /// - [`EcError::GpuTools`]: the programs and devices differ in number, or a program is on another device.
    /// - [`EcError::Simple`]: proofwarp does not know the curve.
    pub fn create(programs: Vec<Program>, devices: &[&Device]) -> EcResult<Self> {
        Self::create_optional_abort(programs, devices, None)
    }

    /// Creates a kernel for `devices`. The i-th device must be that of the i-th program. During an MSM the kernel polls
    /// `maybe_abort` every few milliseconds. The MSM stops once the hook returns true.
    ///
    /// # Errors
    /// Returns the errors of [`Self::create`].
    pub fn create_with_abort(
        programs: Vec<Program>,
        devices: &[&Device],
        maybe_abort: &'a (dyn Fn() -> bool + Send + Sync),
    ) -> EcResult<Self> {
        Self::create_optional_abort(programs, devices, Some(maybe_abort))
    }

    fn create_optional_abort(programs: Vec<Program>, devices: &[&Device], abort: Abort<'a>) -> EcResult<Self> {
        // Without programs, this returns why there is no device.
        accelerator_from_programs(&programs)?;
        if programs.len() != devices.len() {
            return Err(Error::invalid("multiexp", "number of devices", programs.len(), devices.len()).into());
        }
        for program in &programs {
            log::info!("Multiexp: on {}", program.device_name());
        }
        let pairs = programs.into_iter().zip(devices);
        let kernels = pairs.map(|(program, device)| SingleMultiexpKernel::create(program, device, abort));
        Ok(Self { kernels: kernels.collect::<EcResult<_>>()? })
    }

    /// Starts the MSM Σ `exps[i]` · `bases[i]` as jobs of `scope`, one job per device. The job of device j sums a
    /// contiguous range of the inputs into `results[j]`. Once the scope has ended, the MSM is the sum of the first
    /// [`Self::num_kernels`] results, unless `error` holds an error. [`SingleMultiexpKernel::multiexp`] describes bases
    /// and exponents.
    ///
    /// A job that fails leaves its result unchanged, so the caller should set all results to the identity before. If a
    /// job panics, for example in the abort hook, the panic resumes where the scope ends, and `error` holds its text.
    pub fn parallel_multiexp<'s>(
        &'s mut self,
        scope: &Scope<'s>,
        bases: &'s [G],
        exps: &'s [<G::Scalar as PrimeField>::Repr],
        results: &'s mut [G::Curve],
        error: Arc<RwLock<EcResult<()>>>,
    ) {
        let watch = FailureGuard::start();
        if let Err(invalid) = watch.end(self.check_lengths(bases.len(), exps.len(), results.len())) {
            return record_error(&error, invalid);
        }
        let chunk = exps.len().div_ceil(self.kernels.len()).max(1);
        let parts = bases.chunks(chunk).zip(exps.chunks(chunk));
        for (((bases, exps), kernel), result) in parts.zip(&self.kernels).zip(results) {
            let (error, watch) = (error.clone(), watch.clone());
            scope.execute(move || {
                match catch_unwind(AssertUnwindSafe(|| kernel.multiexp_guarded(&watch, bases, exps))) {
                    Ok(Ok(sum)) => *result = sum,
                    Ok(Err(reason)) => record_error(&error, reason),
                    Err(panic) => {
                        record_error(&error, io::Error::other(format!("a panic: {}", panic_message(&*panic))).into());
                        resume_unwind(panic);
                    }
                }
            });
        }
    }

    /// Returns Σ `exps[i]` · `bases[i + skip]`, computed on all devices. [`SingleMultiexpKernel::multiexp`] describes
    /// bases and exponents.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: there are fewer bases than `skip` and exponents together.
    /// - [`EcError::Aborted`]: the hook aborted.
    /// - [`EcError::GpuTools`]: a device failed.
    pub fn multiexp(
        &mut self,
        pool: &Worker,
        bases: Arc<Vec<G>>,
        exps: Arc<Vec<<G::Scalar as PrimeField>::Repr>>,
        skip: usize,
    ) -> EcResult<G::Curve> {
        let end = skip.saturating_add(exps.len());
        let Some(bases) = bases.get(skip..end) else {
            return Err(Error::invalid("multiexp", "number of bases", format!("at least {end}"), bases.len()).into());
        };
        let mut results = vec![G::Curve::identity(); self.kernels.len()];
        let error = Arc::new(RwLock::new(Ok(())));
        pool.scoped(|scope| self.parallel_multiexp(scope, bases, &exps, &mut results, error.clone()));
        std::mem::replace(&mut *error.write().unwrap_or_else(PoisonError::into_inner), Ok(()))?;
        Ok(results.into_iter().sum())
    }

    /// Returns the number of devices.
    pub fn num_kernels(&self) -> usize {
        self.kernels.len()
    }

    fn check_lengths(&self, bases: usize, exps: usize, results: usize) -> EcResult<()> {
        if bases != exps {
            return Err(Error::invalid("parallel_multiexp", "number of exponents", bases, exps).into());
        }
        let kernels = self.num_kernels();
        if results < kernels {
            return Err(Error::invalid("parallel_multiexp", "room for results", kernels, results).into());
        }
        Ok(())
    }
}

/// Stores `reason` in `error` if that holds no error yet. An abort replaces an earlier error, because the caller
/// retries only aborts.
fn record_error<T>(error: &RwLock<EcResult<T>>, reason: EcError) {
    let mut error = error.write().unwrap_or_else(PoisonError::into_inner);
    if error.is_ok() || matches!(reason, EcError::Aborted) {
        *error = Err(reason);
    }
}
