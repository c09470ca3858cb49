//! Soft budgets for a device's memory, set by work that knows its need.

use std::fmt;
use std::sync::Arc;

use super::device_memory_state::DeviceAllocator;
use crate::backend::lock;

/// Holds a soft budget for a device's memory until it is dropped. Beyond the budget, free memory of the pool is
/// reused or returned to the driver before the driver is asked for more. A budget never makes an allocation fail.
/// Budgets of a device add up.
#[must_use = "the aim ends where this is dropped"]
pub struct MemoryBudget {
    shared: Arc<DeviceAllocator>,
    bytes: u64,
}

impl MemoryBudget {
    pub(crate) fn new(shared: Arc<DeviceAllocator>, bytes: u64) -> Self {
        let in_use = shared.allocated_bytes().saturating_sub(lock(&shared.pool).free_bytes());
        lock(&shared.aims).add_budget(bytes, in_use);
        Self { shared, bytes }
    }
}

impl fmt::Debug for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aim({} bytes)", self.bytes)
    }
}

impl Drop for MemoryBudget {
    fn drop(&mut self) {
        lock(&self.shared.aims).remove_budget(self.bytes);
    }
}
