//! Defines the pool that callers pass. proofwarp has threads of its own and needs none.

/// A placeholder for the pool that [`crate::multiexp::MultiexpKernel::multiexp`] takes.
#[derive(Debug, Clone, Default)]
pub struct Worker(());

impl Worker {
    /// Creates a pool.
    pub fn new() -> Self {
        Self::default()
    }
}
