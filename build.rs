//! Compiles the CUDA kernels where the feature `cuda` is on and nvcc is found; nothing else ever needs a
//! tool chain. See `build/cuda.rs`.

#[cfg(feature = "cuda")]
#[path = "build/cuda.rs"]
mod cuda;
/// Declares nothing: the build compiles kernels, and launches none. The library's macro is in `src/kernel_arguments.rs`.
#[cfg(feature = "cuda")]
macro_rules! launcher {
    ($($tokens:tt)*) => {};
}

#[cfg(feature = "cuda")]
#[path = "src/kernels/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the crate uses more of it")]
mod kernels;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cuda")]
    cuda::build();
}
