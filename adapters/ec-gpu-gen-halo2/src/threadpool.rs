//! Defines the pool that callers pass. proofwarp has threads of its own and needs none.

/// Stands for the pool that [`crate::multiexp::MultiexpKernel::multiexp`] takes. It starts no threads.
#[derive(Debug, Clone, Default)]
pub struct Worker(());

impl Worker {
    /// Creates a placeholder without threads.
    pub fn new() -> Self {
        Self::default()
    }
}
