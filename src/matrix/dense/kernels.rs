//! Declares the kernels of dense matrices.

use crate::kernels::field_sources::ACCUMULATOR;
use crate::kernels::spec::{Declarations, Domain, KernelFamily, Module, Part, Target, Variant, source};

/// Products of dense matrices over a field.
pub static FAMILY: KernelFamily = KernelFamily {
    field_sources: &[ACCUMULATOR],
    sources: &[
        Part::always(source!("cl/gemm_common.cl")),
        Part::when(Module::is_small, source!("cl/gemm_small_field.cl")),
        Part::when(Module::is_multi_limb, source!("cl/gemm.cl")),
        Part::always(source!("cl/gemv.cl")),
        Part::always(source!("cl/gemm_crt.cl")),
        Part::when(Module::is_small, source!("cl/gemm_crt_residues_small.cl")),
        Part::when(Module::is_multi_limb, source!("cl/gemm_crt_residues_split.cl")),
        Part::always(source!("cl/gemm_crt_reconstruct.cl")),
    ],
    ..KernelFamily::new("gemm")
};

/// Ends the name of the module with int8 products on tensor cores.
pub const TENSOR: &str = "tensor";
/// Ends the name of the module that only devices of compute capability 9.0 run.
pub const HOPPER: &str = "hopper";

/// Products of dense matrices of bytes on tensor cores.
pub static INT8: KernelFamily = KernelFamily {
    domain: Domain::Nothing,
    sources: &[
        Part::always(source!("cuda/gemm_int8_common.cuh")),
        Part::when(|module| module.target == Target::Cuda, source!("cuda/gemm_int8.cu")),
        Part::when(|module| module.target == Target::Hopper, source!("cuda/gemm_int8_wgmma.cu")),
    ],
    variants: &[
        Variant { suffix: TENSOR, define: "", target: Target::Cuda, condition: |_| true },
        // Warpgroup matrix products, which only devices of compute capability 9.0 have.
        Variant { suffix: HOPPER, define: "HAS_WGMMA", target: Target::Hopper, condition: |_| true },
    ],
    ..KernelFamily::new("gemm_int8")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY, &INT8], ..Declarations::NONE };
