//! Lists the files that declare fields, curves and kernel families, one line each.

use super::spec::{CurveSpec, Declarations, FieldSpec, KernelFamily};

/// Declares a module for each file, and collects what the files declare.
macro_rules! registry {
    ($($name:ident = $path:literal;)*) => {
        $(#[path = $path] pub mod $name;)*
        const FILES: &[Declarations] = &[$($name::DECLARATIONS),*];
        /// Lists the paths of the files, from this folder.
        pub const PATHS: &[&str] = &[$($path),*];
    };
}

registry! {
    bls12_377 = "../curve/bls12_377/spec.rs";
    bls12_381 = "../curve/bls12_381/spec.rs";
    bn254 = "../curve/bn254/spec.rs";
    grumpkin = "../curve/grumpkin/spec.rs";
    pasta = "../curve/pasta/spec.rs";
    goldilocks = "../field/specs/goldilocks.rs";
    baby_bear = "../field/specs/baby_bear.rs";
    koala_bear = "../field/specs/koala_bear.rs";
    binary = "../field/specs/binary.rs";
    ntt = "../ntt/kernels.rs";
    csr = "../matrix/sparse/kernels.rs";
    columns = "../column_ops/kernels.rs";
    gemm = "../matrix/dense/kernels.rs";
    expression = "../expression/kernels.rs";
    groth16 = "../groth16/kernels.rs";
    plonk = "../plonk/kernels.rs";
    sumcheck = "../sumcheck/kernels.rs";
    msm = "../msm/kernels.rs";
    poseidon2 = "../hash/kernels.rs";
    test_kernels = "test_kernels.rs";
}

/// Returns all fields, in the order of the registry.
pub fn fields() -> impl Iterator<Item = &'static FieldSpec> {
    FILES.iter().flat_map(|file| file.fields.iter().copied())
}

/// Returns all curves, in the order of the registry.
pub fn curves() -> impl Iterator<Item = &'static CurveSpec> {
    FILES.iter().flat_map(|file| file.curves.iter().copied())
}

/// Returns all kernel families, in the order of the registry.
pub fn all_families() -> impl Iterator<Item = &'static KernelFamily> {
    FILES.iter().flat_map(|file| file.families.iter().copied())
}

/// Returns the kernel families that this build has, in the order of the registry.
pub fn families() -> impl Iterator<Item = &'static KernelFamily> {
    all_families().filter(|family| cfg!(feature = "test-kernels") || !family.is_for_tests)
}
