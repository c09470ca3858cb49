//! Wraps a device for callers that run closures on it.

use std::sync::Arc;

use proofwarp::Accelerator;

use super::device::{Device, DeviceTarget};
use super::{GPUError, cuda};
use crate::{EcError, EcResult};

/// Runs closures on one device, or on the host. The closures launch kernels by name.
#[derive(Debug, Clone)]
pub struct Program(cuda::Program);

impl Program {
    /// Creates a program for `device`; [`crate::program!`] calls this.
    ///
    /// # Errors
    /// - [`EcError::GpuTools`]: the backend that `PROOFWARP_BACKEND` forces has no device here.
    /// - [`EcError::GpuTools`]: a setting is malformed.
    pub fn from_device(device: &Device) -> EcResult<Self> {
        match &device.0 {
            DeviceTarget::Nowhere(reason) => Err(EcError::GpuTools(GPUError::Generic(reason.clone()))),
            DeviceTarget::Queue(queue) => {
                queue.accelerator()?;
                Ok(Self(cuda::Program::new(Some(queue.clone()))))
            }
            DeviceTarget::Host => Ok(Self(cuda::Program::new(None))),
        }
    }

    /// Calls the first of the two `closures` with the program and `argument`, and returns its result.
    /// [`program_closures!`](crate::rust_gpu_tools::program_closures) makes such pairs.
    ///
    /// # Errors
    /// Returns the errors of the closure.
    pub fn run<F1, F2, R, E, A>(&self, closures: (F1, F2), argument: A) -> Result<R, E>
    where
        E: From<GPUError>,
        F1: FnOnce(&cuda::Program, A) -> Result<R, E>,
    {
        (closures.0)(&self.0, argument)
    }

    /// Returns the device's name.
    pub fn device_name(&self) -> String {
        self.0.queue().map_or_else(|| "host".to_owned(), |queue| queue.device().info().name.clone())
    }

    /// Returns whether the program is for `device`.
    pub(crate) fn is_on(&self, device: &Device) -> bool {
        match (self.0.queue(), &device.0) {
            (Some(ours), DeviceTarget::Queue(theirs)) => Arc::ptr_eq(ours, theirs),
            (None, DeviceTarget::Host) => true,
            _ => false,
        }
    }

    /// Returns the accelerator that runs whole operations, such as an MSM, on this device alone. Returns `None` if the
    /// device is the host.
    pub(crate) fn accelerator(&self) -> Option<&Accelerator> {
        self.0.queue().and_then(|queue| queue.accelerator().ok())
    }
}

/// Makes from one body the pair of closures that [`Program::run`](crate::rust_gpu_tools::Program::run) takes. There is
/// only one kind of program, so the second is `()`.
///
/// The closure's arguments are the program and one more, with or without its type:
/// `|program, argument: u32| -> Result<T, E> { … }`.
#[macro_export]
macro_rules! program_closures {
    (|$program:ident, $argument:ident $(: $kind:ty)?| -> $result:ty $body:block) => {
        (|$program: &$crate::rust_gpu_tools::cuda::Program, $argument $(: $kind)?| -> $result { $body }, ())
    };
}
