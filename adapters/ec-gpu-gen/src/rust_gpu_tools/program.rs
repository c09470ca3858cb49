//! Combines a device with the kernels that the calling crate appended.

use std::sync::Arc;

use proofwarp::Accelerator;

#[cfg(feature = "cuda")]
use super::cuda;
use super::device::DEVICES;
use super::env::requested_framework;
#[cfg(feature = "opencl")]
use super::opencl;
use super::{Device, Framework, GPUError};
use crate::EcError;

/// Combines a device with the kernels that the calling crate appended.
#[derive(Debug)]
pub enum Program {
    /// On a device that CUDA reaches.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Program),
    /// On a device that OpenCL reaches.
    #[cfg(feature = "opencl")]
    Opencl(opencl::Program),
}

impl Program {
    /// Creates a program for `device` from the output of [`crate::generate`]: the text `opencl` and the fatbin `cuda`.
    /// It uses the framework that `EC_GPU_FRAMEWORK` names, or else the device's own. [`crate::program!`] passes the
    /// text and the fatbin.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the framework does not reach the device. It holds [`GPUError::DeviceNotFound`].
    /// - [`EcError::Simple`]: this crate was built without the framework's feature.
    #[allow(unused_variables)] // Of a framework without its feature.
    pub fn new(device: &Device, opencl: Option<&'static str>, cuda: Option<&'static [u8]>) -> Result<Self, EcError> {
        match requested_framework()?.unwrap_or(device.framework()) {
            #[cfg(feature = "cuda")]
            Framework::Cuda => {
                let device = device.cuda_device().ok_or(GPUError::DeviceNotFound)?;
                Ok(Self::Cuda(cuda::Program::from_static(device, cuda.unwrap_or_default())))
            }
            #[cfg(feature = "opencl")]
            Framework::Opencl => {
                let device = device.opencl_device().ok_or(GPUError::DeviceNotFound)?;
                Ok(Self::Opencl(opencl::Program::from_static(device, opencl.unwrap_or_default())))
            }
        }
    }

    /// Returns the device's name.
    pub fn device_name(&self) -> &str {
        &self.proofwarp_device().info().name
    }

    /// Returns the device object of proofwarp that the program runs on.
    pub(crate) fn proofwarp_device(&self) -> &Arc<proofwarp::backend::Device> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(program) => &program.device().handle.0,
            #[cfg(feature = "opencl")]
            Self::Opencl(program) => &program.device().handle.0,
        }
    }

    /// Returns whether the program runs on `device`, through either framework.
    pub(crate) fn is_on(&self, device: &Device) -> bool {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(program) => device.cuda_device() == Some(program.device()),
            #[cfg(feature = "opencl")]
            Self::Opencl(program) => device.opencl_device() == Some(program.device()),
        }
    }

    /// Calls the closure of the pair `fun` that is for the program's framework, with the program and `arg`.
    /// [`program_closures!`](crate::program_closures) makes such pairs.
    ///
    /// # Errors
    /// Returns the closure's errors.
    #[cfg(all(feature = "cuda", feature = "opencl"))]
    pub fn run<F1, F2, R, E, A>(&self, fun: (F1, F2), arg: A) -> Result<R, E>
    where
        E: From<GPUError>,
        F1: FnOnce(&cuda::Program, A) -> Result<R, E>,
        F2: FnOnce(&opencl::Program, A) -> Result<R, E>,
    {
        match self {
            Self::Cuda(program) => program.run(fun.0, arg),
            Self::Opencl(program) => program.run(fun.1, arg),
        }
    }

    /// Calls the first closure of the pair `fun` with the program and `arg`.
    /// [`program_closures!`](crate::program_closures) makes such pairs.
    ///
    /// # Errors
    /// Returns the closure's errors.
    #[cfg(all(feature = "cuda", not(feature = "opencl")))]
    pub fn run<F1, F2, R, E, A>(&self, fun: (F1, F2), arg: A) -> Result<R, E>
    where
        E: From<GPUError>,
        F1: FnOnce(&cuda::Program, A) -> Result<R, E>,
    {
        let Self::Cuda(program) = self;
        program.run(fun.0, arg)
    }

    /// Calls the second closure of the pair `fun` with the program and `arg`.
    /// [`program_closures!`](crate::program_closures) makes such pairs.
    ///
    /// # Errors
    /// Returns the closure's errors.
    #[cfg(all(not(feature = "cuda"), feature = "opencl"))]
    pub fn run<F1, F2, R, E, A>(&self, fun: (F1, F2), arg: A) -> Result<R, E>
    where
        E: From<GPUError>,
        F2: FnOnce(&opencl::Program, A) -> Result<R, E>,
    {
        let Self::Opencl(program) = self;
        program.run(fun.1, arg)
    }
}

/// Returns an accelerator with the devices of `programs`. It has no CPU fallback: callers have a CPU path of their own,
/// and take it only after an error.
pub(crate) fn accelerator_from_programs(programs: &[Program]) -> Result<Accelerator, EcError> {
    let Some(first) = programs.first() else { return Err(no_device_error()) };
    let backend = first.proofwarp_device().info().backend;
    let devices = programs.iter().map(|program| program.proofwarp_device().clone()).collect();
    Ok(Accelerator::with_backend(backend)?.with_devices(devices))
}

/// Returns the error that says why there is no device.
fn no_device_error() -> EcError {
    match &*DEVICES {
        Ok(_) => EcError::Simple("No working GPUs found!"),
        Err(reason) => GPUError::Generic(reason.clone()).into(),
    }
}

/// Makes the pair of closures that [`Program::run`](crate::rust_gpu_tools::Program::run) takes from one body. One
/// closure is for CUDA, one for OpenCL. A framework without its feature gets `()`.
///
/// The closure's arguments are the program and one more, with or without its type:
/// `|program, argument: u32| -> Result<T, E> { … }`.
#[macro_export]
macro_rules! program_closures {
    ($($closure:tt)*) => {
        ($crate::__cuda_closure!($($closure)*), $crate::__opencl_closure!($($closure)*))
    };
}

/// Defines the macro that makes the closure for one framework.
macro_rules! closure_of {
    ($dollar:tt $feature:literal, $name:ident, $framework:ident) => {
        #[cfg(feature = $feature)]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            (|$dollar program:ident, $dollar argument:ident $dollar(: $dollar kind:ty)?| -> $dollar result:ty $dollar body:block) => {
                |$dollar program: &$dollar crate::rust_gpu_tools::$framework::Program,
                 $dollar argument $dollar(: $dollar kind)?| -> $dollar result { $dollar body }
            };
        }

        #[cfg(not(feature = $feature))]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($dollar($dollar closure:tt)*) => {
                ()
            };
        }
    };
}

closure_of!($ "cuda", __cuda_closure, cuda);
closure_of!($ "opencl", __opencl_closure, opencl);
