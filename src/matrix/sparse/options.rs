//! What a caller may settle about products.

use std::sync::Arc;

use super::plan::Kernel;
use crate::Accelerator;
use crate::backend::Device;

/// How a matrix is multiplied. Zero, or `None`, leaves it to the matrix's statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// The kernel.
    pub kernel: Option<Kernel>,
    /// Most devices to use; vectors of a batch are spread over them.
    pub devices: usize,
}

impl Options {
    /// The devices among an accelerator's that are used.
    pub(super) fn devices(&self, accelerator: &Accelerator) -> Vec<Arc<Device>> {
        let most = if self.devices == 0 { usize::MAX } else { self.devices };
        accelerator.devices().iter().take(most).cloned().collect()
    }
}
