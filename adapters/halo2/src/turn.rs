//! Which device makes a proof.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::Accelerator;
use proofwarp::backend::Device;

/// Devices, as often as proofs are under way on them.
static UNDER_WAY: Mutex<Vec<Arc<Device>>> = Mutex::new(Vec::new());

/// A proof's time on a device; others count it until it is dropped.
#[derive(Debug)]
pub struct Turn {
    pub accelerator: Accelerator,
}

impl Turn {
    /// The accelerator with the one of its devices on which the fewest proofs are under way: the first of those.
    pub fn new(accelerator: &Accelerator) -> Self {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let proofs = |device: &&Arc<Device>| under_way.iter().filter(|other| Arc::ptr_eq(other, device)).count();
        let device = accelerator.devices().iter().min_by_key(proofs).cloned();
        under_way.extend(device.clone());
        Self { accelerator: accelerator.on_devices(device.into_iter().collect()) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        for device in self.accelerator.devices() {
            if let Some(at) = under_way.iter().position(|other| Arc::ptr_eq(other, device)) {
                under_way.swap_remove(at);
            }
        }
    }
}
