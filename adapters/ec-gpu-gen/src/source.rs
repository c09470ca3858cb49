//! The text of field arithmetic that crates append kernels of their own to.
//!
//! proofwarp's own kernels are not part of it: they are in proofwarp. The text is OpenCL C and CUDA C++
//! at once, and names things as the stock crate does: a field `F` is a type of its [`ec_gpu::GpuName`], and
//! `F_add`, `F_sub`, `F_mul`, `F_sqr`, `F_double`, `F_pow`, `F_mont`, `F_unmont`, `F_eq`, `F_get_bits`, …
//! are its functions.

#[cfg(any(feature = "cuda", feature = "opencl"))]
mod build;
mod builder;

pub use builder::SourceBuilder;

/// To be called in a build script: makes the texts that [`program!`](crate::program) puts into programs.
///
/// With the feature `opencl` it writes the text, with `cuda` it compiles it with nvcc (from `NVCC`,
/// `CUDA_HOME` or the path; arguments from `EC_GPU_CUDA_NVCC_ARGS` if set), unless nothing was appended:
/// then there is no kernel in it, and no nvcc is needed. When that fails, as without nvcc where something was
/// appended, it says why and ends the build script, as the stock crate's panic does.
#[allow(unused_variables)] // Without a feature there is nothing to do.
pub fn generate(source_builder: &SourceBuilder) {
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    if let Err(error) = build::generate(source_builder) {
        eprintln!("ec-gpu-gen: {error}");
        std::process::exit(1);
    }
}
