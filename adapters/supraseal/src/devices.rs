//! Chooses the devices that proofs are made on.

use std::sync::Once;

use proofwarp::settings::no_gpu;
use proofwarp::settings::table::NO_GPU;
use proofwarp::{Accelerator, BackendKind};

use crate::error::Error;

/// Holds the accelerator for parameters, and whether the CPU was requested explicitly.
#[derive(Debug)]
pub(crate) struct DeviceSelection {
    pub accelerator: Accelerator,
    pub asked_for_cpu: bool,
}

impl DeviceSelection {
    /// Selects the devices of the process's accelerator, or none if [`NO_GPU`] asks for that, which is logged once.
    ///
    /// # Errors
    /// - [`Error::Engine`]: a forced backend is not available, or a setting is malformed.
    /// - [`Error::Invalid`]: a device backend is forced, and [`NO_GPU`] forbids it.
    pub(crate) fn from_env() -> Result<Self, Error> {
        static SAID: Once = Once::new();
        let place = Self::choose(Accelerator::global()?, no_gpu().as_deref())?;
        if place.asked_for_cpu {
            SAID.call_once(|| log::info!("supraseal-c2: proofs are made on the CPU: {NO_GPU} asks for it"));
        }
        Ok(place)
    }

    fn choose(all: &Accelerator, no_gpu: Option<&str>) -> Result<Self, Error> {
        let forced = all.forced();
        match (no_gpu, forced) {
            (Some(value), Some(backend @ (BackendKind::Cuda | BackendKind::OpenCl))) => {
                Err(Error::invalid(NO_GPU, format!("unset or 0, since {backend} is forced"), value))
            }
            (Some(_), _) => Ok(Self { accelerator: all.with_devices(Vec::new()), asked_for_cpu: true }),
            (None, _) => Ok(Self { accelerator: all.clone(), asked_for_cpu: forced == Some(BackendKind::Cpu) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_used_where_it_is_asked_for() {
        let all = Accelerator::from_env().expect("accelerator");
        let of_devices = !matches!(all.forced(), None | Some(BackendKind::Cpu));
        for value in ["1", "", "true"] {
            match DeviceSelection::choose(&all, Some(value)) {
                Ok(place) => assert!(place.asked_for_cpu && place.accelerator.devices().is_empty() && !of_devices),
                Err(error) => assert!(of_devices && error.to_string().starts_with(NO_GPU), "{error}"),
            }
        }
        let place = DeviceSelection::choose(&all, None).expect("place");
        assert_eq!(place.accelerator.devices().len(), all.devices().len());
        assert_eq!(place.asked_for_cpu, all.forced() == Some(BackendKind::Cpu));
        let host = Accelerator::with_backend(BackendKind::Cpu).expect("host");
        assert!(DeviceSelection::choose(&host, None).expect("place").asked_for_cpu);
    }
}
