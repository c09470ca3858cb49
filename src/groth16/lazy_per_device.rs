//! Holds a value for each device, made at its first use.

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::Result;
use crate::backend::{Device, lock};
use crate::blocking::{get_or_try_init, try_get};

/// Pairs a device with its value, which is `None` until it is made. The mutex is locked while it is made.
type DeviceCell<T> = (Arc<Device>, Arc<Mutex<Option<Arc<T>>>>);

/// Holds at most one value per device, each made at its first use.
pub(super) struct PerDevice<T>(Mutex<Vec<DeviceCell<T>>>);

impl<T> Default for PerDevice<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for PerDevice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PerDevice of {}", lock(&self.0).len())
    }
}

impl<T> PerDevice<T> {
    /// Returns the value of `device`, made by `make` if there is none. Values of different devices can be made
    /// concurrently.
    pub fn get(&self, device: &Arc<Device>, make: impl FnOnce() -> Result<T> + Send) -> Result<Arc<T>>
    where
        T: Send + Sync,
    {
        get_or_try_init(&self.slot(device), make)
    }

    /// Returns the values of all devices, in the order in which they were first requested. Skips values that are being
    /// made.
    pub fn all(&self) -> Vec<Arc<T>> {
        let slots: Vec<_> = lock(&self.0).iter().map(|(_, slot)| slot.clone()).collect();
        slots.iter().filter_map(|slot| try_get(slot)).collect()
    }

    /// Returns whether a value for `device` was ever requested. It may still be in the making, or `make` may have
    /// failed.
    pub fn has(&self, device: &Arc<Device>) -> bool {
        lock(&self.0).iter().any(|(owner, _)| Arc::ptr_eq(owner, device))
    }

    fn slot(&self, device: &Arc<Device>) -> Arc<Mutex<Option<Arc<T>>>> {
        let mut slots = lock(&self.0);
        if let Some((_, slot)) = slots.iter().find(|(owner, _)| Arc::ptr_eq(owner, device)) {
            return slot.clone();
        }
        let slot = Arc::new(Mutex::new(None));
        slots.push((device.clone(), slot.clone()));
        slot
    }
}
