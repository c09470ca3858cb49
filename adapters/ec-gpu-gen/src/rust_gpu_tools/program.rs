//! A device together with the kernels that the calling crate appended.

use proofwarp::BackendKind;

#[cfg(feature = "opencl")]
use super::opencl;
use super::{Device, GPUError, framework_asked_for};
use crate::EcError;

/// What the framework CUDA has of a program.
#[cfg(feature = "cuda")]
pub mod cuda {
    use super::Device;

    /// A device that CUDA reaches. Kernels of the calling crate's own do not run on it.
    #[derive(Clone, Debug)]
    pub struct Program {
        pub(super) device: Device,
        pub(super) fatbin: &'static [u8],
    }

    impl Program {
        /// The fatbin that the calling crate generated; empty where it appended no kernels.
        pub fn fatbin(&self) -> &'static [u8] {
            self.fatbin
        }
    }
}

/// A device together with the kernels that the calling crate appended.
#[derive(Debug)]
pub enum Program {
    /// On a device that CUDA reaches.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Program),
    /// On a device that OpenCL reaches.
    #[cfg(feature = "opencl")]
    Opencl(opencl::Program),
    /// On a device that proofwarp reaches by a framework without its feature here: features of this crate
    /// follow its caller's, and proofwarp may have been given more by another.
    Engine(Device),
}

impl Program {
    /// A program of texts that [`crate::generate`] made; [`crate::program!`] finds those.
    ///
    /// # Errors
    /// `EC_GPU_FRAMEWORK` names another framework than the device's.
    #[allow(unused_variables)] // Of a framework without its feature.
    pub fn new(device: &Device, opencl: Option<&'static str>, cuda: Option<&'static [u8]>) -> Result<Self, EcError> {
        let backend = device.info().backend;
        if framework_asked_for().is_some_and(|asked| asked != backend) {
            return Err(GPUError::DeviceNotFound.into());
        }
        match backend {
            #[cfg(feature = "cuda")]
            BackendKind::Cuda => {
                Ok(Self::Cuda(cuda::Program { device: device.clone(), fatbin: cuda.unwrap_or_default() }))
            }
            #[cfg(feature = "opencl")]
            BackendKind::OpenCl => Ok(Self::Opencl(opencl::Program::new(device, opencl.unwrap_or_default()))),
            _ => Ok(Self::Engine(device.clone())),
        }
    }

    /// The device's name.
    pub fn device_name(&self) -> &str {
        &self.device().info().name
    }

    /// The device.
    pub fn device(&self) -> &Device {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(program) => &program.device,
            #[cfg(feature = "opencl")]
            Self::Opencl(program) => program.device(),
            Self::Engine(device) => device,
        }
    }

    /// Runs the second of [`program_closures!`](crate::program_closures) on the program.
    ///
    /// # Errors
    /// Those of the closure, or the device is not one that OpenCL reaches.
    #[cfg(feature = "opencl")]
    pub fn run<F1, F2, R, E, A>(&self, closures: (F1, F2), argument: A) -> Result<R, E>
    where
        E: From<GPUError>,
        F2: FnOnce(&opencl::Program, A) -> Result<R, E>,
    {
        let Self::Opencl(program) = self else {
            return Err(GPUError::Generic("kernels of its own run on OpenCL only".to_owned()).into());
        };
        program.run(closures.1, argument)
    }
}

/// Makes of one body the pair of closures that [`Program::run`](crate::rust_gpu_tools::Program::run) takes:
/// nothing for CUDA, and one for OpenCL.
#[macro_export]
macro_rules! program_closures {
    (|$program:ident, $argument:ident| -> $result:ty $body:block) => {
        ((), |$program: &$crate::rust_gpu_tools::opencl::Program, $argument| -> $result { $body })
    };
    (|$program:ident, $argument:ident: $type:ty| -> $result:ty $body:block) => {
        ((), |$program: &$crate::rust_gpu_tools::opencl::Program, $argument: $type| -> $result { $body })
    };
}
