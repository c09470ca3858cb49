//! Describes the CUDA kernels of this build and the CUDA cards of this machine.

/// Describes the CUDA kernels that this build compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaKernels {
    /// Reason why the build compiled no kernels; empty if it compiled them.
    pub note: &'static str,
    /// Architectures for which the kernels are compiled, such as 80 for compute capability 8.0. The build also
    /// contains PTX for the last one.
    pub architectures: &'static [u32],
    /// CUDA version (major, minor) of the compiler, such as (13, 0). A driver of an earlier major version does not
    /// load its code.
    pub compiler: Option<(u32, u32)>,
    /// Number of compiled kernel modules.
    pub modules: usize,
}

/// Describes a GPU that the CUDA driver lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaCard {
    /// Name that the driver reports.
    pub name: String,
    /// Compute capability (major, minor), such as (9, 0).
    pub capability: (u32, u32),
    /// Whether this build has kernels that run on the GPU.
    pub is_served: bool,
}
