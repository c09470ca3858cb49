//! Generates the text of field arithmetic, to which crates append their own kernels.
//!
//! It does not contain proofwarp's own kernels, which are in proofwarp. The text is both OpenCL C and CUDA C++, and
//! uses the stock crate's names. A field `F` is a type named by its [`ec_gpu::GpuName`], and `F_add`, `F_sub`, `F_mul`,
//! `F_sqr`, `F_double`, `F_pow`, `F_mont`, `F_unmont`, `F_eq`, `F_get_bits`, … are its functions.

#[cfg(any(feature = "cuda", feature = "opencl"))]
mod build;
mod builder;

pub use builder::SourceBuilder;

/// Writes the kernel code of `source_builder` that [`program!`](crate::program) puts into programs. It must be called
/// in a build script.
///
/// With the feature `opencl` it writes the text. With `cuda` it compiles the text with nvcc. It takes nvcc from `NVCC`,
/// `CUDA_HOME` or the path, and nvcc's arguments from `EC_GPU_CUDA_NVCC_ARGS` if set. If nothing was appended, there is
/// no kernel to compile, and nvcc is not needed. On failure, such as a missing nvcc, it prints the reason and ends the
/// build script, as the stock crate's panic does.
#[allow(unused_variables)] // Without a feature there is nothing to do.
pub fn generate(source_builder: &SourceBuilder) {
    #[cfg(any(feature = "cuda", feature = "opencl"))]
    if let Err(error) = build::generate(source_builder) {
        eprintln!("ec-gpu-gen: {error}");
        std::process::exit(1);
    }
}
