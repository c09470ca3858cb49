//! Chooses the devices of a proof.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::Accelerator;
use proofwarp::backend::Device;

/// Lists each device as many times as proofs are in flight on it.
static ACTIVE_DEVICES: Mutex<Vec<Arc<Device>>> = Mutex::new(Vec::new());

thread_local! {
    /// Number of reservations that live, of this thread and of those that it works for.
    static OWN_RESERVATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Reserves the devices of a proof. Until it is dropped, other proofs count these devices as busy.
#[derive(Debug)]
pub(crate) struct DeviceReservation {
    /// One accelerator per reserved device, for that device alone. If there are no devices, one accelerator without
    /// devices.
    pub accelerators: Vec<Accelerator>,
}

impl DeviceReservation {
    /// Reserves the device of `accelerator` with the fewest proofs in flight, and up to `most` − 1 further devices
    /// without proofs. Among equally busy devices it takes the first.
    pub(crate) fn new(accelerator: &Accelerator, most: usize) -> Self {
        let mut under_way = ACTIVE_DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        let proofs = |device: &Arc<Device>| under_way.iter().filter(|other| Arc::ptr_eq(other, device)).count();
        let mut devices: Vec<_> = accelerator.devices().iter().map(|device| (proofs(device), device)).collect();
        devices.sort_by_key(|(proofs, _)| *proofs);
        let first = devices.first().map(|(_, device)| (*device).clone());
        let idle = devices.iter().skip(1).filter(|(proofs, _)| *proofs == 0).map(|(_, device)| (*device).clone());
        let chosen: Vec<_> = first.into_iter().chain(idle).take(most.max(1)).collect();
        under_way.extend(chosen.iter().cloned());
        OWN_RESERVATIONS.set(OWN_RESERVATIONS.get() + 1);
        let alone = |device| accelerator.with_devices(vec![device]);
        let mut accelerators: Vec<_> = chosen.into_iter().map(alone).collect();
        if accelerators.is_empty() {
            accelerators.push(accelerator.clone());
        }
        Self { accelerators }
    }

    /// Returns whether a proof of this thread may wait for memory that other proofs hold. A worker of a rayon pool may
    /// not, because the other proofs may need it. Neither may a proof that a circuit's synthesis makes, because its
    /// own thread holds memory too.
    pub(crate) fn may_wait() -> bool {
        rayon::current_thread_index().is_none() && OWN_RESERVATIONS.get() < 2
    }
}

impl Drop for DeviceReservation {
    fn drop(&mut self) {
        OWN_RESERVATIONS.set(OWN_RESERVATIONS.get().saturating_sub(1));
        let mut under_way = ACTIVE_DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        for device in self.accelerators.iter().flat_map(Accelerator::devices) {
            if let Some(at) = under_way.iter().position(|other| Arc::ptr_eq(other, device)) {
                under_way.swap_remove(at);
            }
        }
    }
}

/// Counts the reservation of the thread that this one works for as its own, until it is dropped.
pub(crate) struct InheritedReservation(());

impl InheritedReservation {
    pub(crate) fn new() -> Self {
        OWN_RESERVATIONS.set(OWN_RESERVATIONS.get() + 1);
        Self(())
    }
}

impl Drop for InheritedReservation {
    fn drop(&mut self) {
        OWN_RESERVATIONS.set(OWN_RESERVATIONS.get().saturating_sub(1));
    }
}
