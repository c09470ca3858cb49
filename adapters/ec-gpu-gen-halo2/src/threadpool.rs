//! The pool that callers hand over. proofwarp has threads of its own, so that it needs none.

/// What [`crate::multiexp::MultiexpKernel::multiexp`] is given.
#[derive(Debug, Clone, Default)]
pub struct Worker(());

impl Worker {
    /// A pool.
    pub fn new() -> Self {
        Self::default()
    }
}
