//! Soft budgets for a device's memory, set by work that knows its need.

use std::fmt;
use std::sync::Arc;

use super::lock;
use super::shared::Shared;

/// While alive, sets a soft budget of `bytes` above current usage: the pool is reused or trimmed before the driver is
/// asked for more. It never fails an allocation. Budgets add up.
#[must_use = "the aim ends where this is dropped"]
pub struct Aim {
    shared: Arc<Shared>,
    bytes: u64,
}

impl Aim {
    pub(super) fn new(shared: Arc<Shared>, bytes: u64) -> Self {
        let in_use = shared.allocated().saturating_sub(lock(&shared.pool).bytes());
        lock(&shared.aims).add(bytes, in_use);
        Self { shared, bytes }
    }
}

impl fmt::Debug for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aim({} bytes)", self.bytes)
    }
}

impl Drop for Aim {
    fn drop(&mut self) {
        lock(&self.shared.aims).remove(self.bytes);
    }
}
