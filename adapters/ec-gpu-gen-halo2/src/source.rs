//! Provides the calls that build scripts make. Kernels are compiled into proofwarp or at run time, so nothing is
//! generated.

/// Stands for the builder of kernel sources that build scripts expect. It holds nothing.
#[derive(Debug, Clone, Default)]
pub struct SourceBuilder(());

impl SourceBuilder {
    /// Creates a builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the builder unchanged: the kernels for NTTs over the field `F` are built into proofwarp.
    #[must_use]
    pub fn add_fft<F>(self) -> Self {
        self
    }

    /// Returns the builder unchanged: the kernels for MSMs on the curve `C`, with coordinates in `F`, are built into
    /// proofwarp.
    #[must_use]
    pub fn add_multiexp<C, F>(self) -> Self {
        self
    }
}

/// Does nothing, since the kernels are built into proofwarp.
pub fn generate(_builder: &SourceBuilder) {}
