//! Describes the CUDA kernels of this build and the CUDA cards of this machine.

/// Describes the CUDA kernels of this build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaKernels {
    /// Why none were built in; empty if they were.
    pub note: &'static str,
    /// Architectures that they are compiled for, such as 80 for compute capability 8.0; the last one also as PTX.
    pub architectures: &'static [u32],
    /// The CUDA version of the compiler, such as (13, 0): a driver of an earlier major version does not load its code.
    pub compiler: Option<(u32, u32)>,
    /// Number of modules.
    pub modules: usize,
}

/// Describes a card that the CUDA driver lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaCard {
    /// Its name.
    pub name: String,
    /// Its compute capability, such as (9, 0).
    pub capability: (u32, u32),
    /// Whether there are kernels for it.
    pub is_served: bool,
}
