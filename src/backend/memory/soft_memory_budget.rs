//! Soft budgets for a device's memory, set by work that knows its need.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::device_memory_state::DeviceAllocator;
use crate::backend::lock;

/// Holds a soft budget for a device's memory until it is dropped. Beyond the budget, free memory of the pool is
/// reused or returned to the driver before the driver is asked for more. A budget never makes an allocation fail.
/// Budgets of a device add up.
#[must_use = "the budget ends where this is dropped"]
pub struct MemoryBudget {
    shared: Arc<DeviceAllocator>,
    bytes: u64,
}

impl MemoryBudget {
    pub(crate) fn new(shared: Arc<DeviceAllocator>, bytes: u64) -> Self {
        let in_use = shared.in_use_bytes();
        lock(&shared.aims).add_budget(bytes, in_use);
        Self { shared, bytes }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Debug for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryBudget({} bytes)", self.bytes)
    }
}

impl Drop for MemoryBudget {
    fn drop(&mut self) {
        // With the lock, under which others look at the number before they wait.
        let _turn = lock(&self.shared.reserving);
        lock(&self.shared.aims).remove_budget(self.bytes);
        self.shared.ended_budgets.fetch_add(1, Ordering::Relaxed);
        self.shared.budget_ended.notify_all();
    }
}

/// Marks bytes of a device as data that stays, such as a key's columns, until it is dropped. Such bytes take nothing
/// of a memory budget.
#[derive(Debug)]
pub(crate) struct ResidentBytes {
    shared: Arc<DeviceAllocator>,
    bytes: u64,
}

impl ResidentBytes {
    pub(crate) fn new(shared: Arc<DeviceAllocator>, bytes: u64) -> Self {
        lock(&shared.aims).add_resident(bytes);
        Self { shared, bytes }
    }
}

impl Drop for ResidentBytes {
    fn drop(&mut self) {
        lock(&self.shared.aims).remove_resident(self.bytes);
    }
}
