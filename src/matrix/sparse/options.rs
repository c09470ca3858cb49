//! Defines the caller's options for products.

use std::sync::Arc;

use super::plan::Kernel;
use crate::Accelerator;
use crate::backend::Device;

/// Holds the caller's choices for products with a sparse matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SparseOptions {
    /// Kernel to use. `None` selects it by the lengths of the matrix's rows.
    pub kernel: Option<Kernel>,
    /// Maximum number of devices to use, or 0 for all. The vectors of a batch are spread over them.
    pub devices: usize,
}

impl SparseOptions {
    /// Returns the devices of `accelerator` to use: the first ones, up to the maximum in these options.
    pub(super) fn devices(&self, accelerator: &Accelerator) -> Vec<Arc<Device>> {
        let most = if self.devices == 0 { usize::MAX } else { self.devices };
        accelerator.devices().iter().take(most).cloned().collect()
    }
}
