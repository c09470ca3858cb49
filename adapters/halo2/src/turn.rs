//! Which device makes a proof.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::Accelerator;
use proofwarp::backend::Device;

/// Devices, as often as proofs are under way on them.
static UNDER_WAY: Mutex<Vec<Arc<Device>>> = Mutex::new(Vec::new());

/// A proof's time on its devices; others count it until it is dropped.
#[derive(Debug)]
pub struct Turn {
    /// The accelerator with each of the proof's devices alone, or with none.
    pub accelerators: Vec<Accelerator>,
}

impl Turn {
    /// Of an accelerator's devices the one on which the fewest proofs are under way, the first of those, and up to `most` − 1
    /// that are idle.
    pub fn new(accelerator: &Accelerator, most: usize) -> Self {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let proofs = |device: &Arc<Device>| under_way.iter().filter(|other| Arc::ptr_eq(other, device)).count();
        let mut devices: Vec<_> = accelerator.devices().iter().map(|device| (proofs(device), device)).collect();
        devices.sort_by_key(|(proofs, _)| *proofs);
        let first = devices.first().map(|(_, device)| (*device).clone());
        let idle = devices.iter().skip(1).filter(|(proofs, _)| *proofs == 0).map(|(_, device)| (*device).clone());
        let chosen: Vec<_> = first.into_iter().chain(idle).take(most.max(1)).collect();
        under_way.extend(chosen.iter().cloned());
        let alone = |device| accelerator.on_devices(vec![device]);
        let mut accelerators: Vec<_> = chosen.into_iter().map(alone).collect();
        if accelerators.is_empty() {
            accelerators.push(accelerator.clone());
        }
        Self { accelerators }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        for device in self.accelerators.iter().flat_map(Accelerator::devices) {
            if let Some(at) = under_way.iter().position(|other| Arc::ptr_eq(other, device)) {
                under_way.swap_remove(at);
            }
        }
    }
}
