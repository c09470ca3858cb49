//! Lists the devices that callers see; there is always one.

use std::sync::{Arc, LazyLock};

use proofwarp::backend::DeviceInfo;
use proofwarp::{Accelerator, BackendKind};

use super::queue::Queue;

/// Lists all devices. The list is never empty.
static DEVICES: LazyLock<Vec<Device>> = LazyLock::new(|| match Accelerator::global() {
    Err(error) => {
        log::error!("{error}");
        vec![Device(DeviceTarget::Nowhere(error.to_string()))]
    }
    Ok(accelerator) if accelerator.devices().is_empty() => {
        if accelerator.forced().is_none() {
            log::warn!("no GPU, so that all is done by the CPU: {}", accelerator.unavailable_reasons().join("; "));
        }
        vec![Device(DeviceTarget::Host)]
    }
    Ok(accelerator) => {
        let place = |device: &Arc<_>| Device(DeviceTarget::Queue(Arc::new(Queue::new(device))));
        accelerator.devices().iter().map(place).collect()
    }
});

/// A device that proofwarp can use: a GPU, or the host's cores.
#[derive(Debug, Clone)]
pub struct Device(pub(super) DeviceTarget);

/// Says where a device's work is done.
#[derive(Debug, Clone)]
pub(super) enum DeviceTarget {
    /// On a device, in order.
    Queue(Arc<Queue>),
    /// On the host's cores.
    Host,
    /// Nowhere, for this reason.
    Nowhere(String),
}

impl Device {
    /// Returns all devices of the backend in use. If there are none, returns one device that stands for the host's
    /// cores. The list is never empty, because callers divide by its length.
    pub fn all() -> Vec<&'static Self> {
        DEVICES.iter().collect()
    }

    fn info(&self) -> Option<&DeviceInfo> {
        match &self.0 {
            DeviceTarget::Queue(queue) => Some(queue.device().info()),
            DeviceTarget::Host | DeviceTarget::Nowhere(_) => None,
        }
    }

    /// Returns the vendor's name for the device.
    pub fn name(&self) -> String {
        self.info().map_or_else(|| "host".to_owned(), |info| info.name.clone())
    }

    /// Returns the backend that does the device's work, which is the CPU for the host.
    pub fn backend(&self) -> BackendKind {
        self.info().map_or(BackendKind::Cpu, |info| info.backend)
    }

    /// Returns the total memory in bytes; 0 for the host.
    pub fn memory(&self) -> u64 {
        self.info().map_or(0, |info| info.memory)
    }

    /// Returns the number of multiprocessors (CUDA) or compute units (OpenCL), or of rayon's threads for the host.
    pub fn compute_units(&self) -> u32 {
        self.info().map_or_else(|| rayon::current_num_threads() as u32, |info| info.compute_units)
    }
}
