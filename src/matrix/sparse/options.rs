//! Defines the caller's options for products.

use std::sync::Arc;

use super::plan::Kernel;
use crate::Accelerator;
use crate::backend::Device;

/// Selects how a matrix is multiplied. `None` leaves the kernel to the matrix's statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SparseOptions {
    /// The kernel.
    pub kernel: Option<Kernel>,
    /// Maximum devices to use, 0 for all; vectors of a batch are spread over them.
    pub devices: usize,
}

impl SparseOptions {
    /// Returns the accelerator's devices that are used.
    pub(super) fn devices(&self, accelerator: &Accelerator) -> Vec<Arc<Device>> {
        let most = if self.devices == 0 { usize::MAX } else { self.devices };
        accelerator.devices().iter().take(most).cloned().collect()
    }
}
