//! Provides the calls that build scripts make. Kernels are compiled into proofwarp or at run time, so nothing is
//! generated.

/// Names the fields and curves that a program computes in.
#[derive(Debug, Clone, Default)]
pub struct SourceBuilder(());

impl SourceBuilder {
    /// Creates a builder without fields and curves.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the builder unchanged. proofwarp has the kernels for transforms over field `F`.
    #[must_use]
    pub fn add_fft<F>(self) -> Self {
        self
    }

    /// Returns the builder unchanged. proofwarp has the kernels for MSMs on curve `C`, with coordinates in field `F`.
    #[must_use]
    pub fn add_multiexp<C, F>(self) -> Self {
        self
    }
}

/// Does nothing, since proofwarp has the kernels.
pub fn generate(_builder: &SourceBuilder) {}
