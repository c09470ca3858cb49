//! Names of the fields and of the curves in kernels.

/// Scalar field of BLS12-381.
pub const BLS12_381_FR: &str = "bls12_381_fr";
/// Base field of BLS12-381.
pub const BLS12_381_FQ: &str = "bls12_381_fq";
/// Scalar field of BN254.
pub const BN254_FR: &str = "bn254_fr";
/// Base field of BN254.
pub const BN254_FQ: &str = "bn254_fq";
/// Base field of Pallas, scalar field of Vesta.
pub const PASTA_FP: &str = "pasta_fp";
/// Base field of Vesta, scalar field of Pallas.
pub const PASTA_FQ: &str = "pasta_fq";
/// The field of 2^64 − 2^32 + 1 elements.
pub const GOLDILOCKS: &str = "goldilocks";
/// Its quadratic extension.
pub const GOLDILOCKS2: &str = "goldilocks2";
/// The field of 15·2^27 + 1 elements.
pub const BABY_BEAR: &str = "baby_bear";
/// Its quartic extension.
pub const BABY_BEAR4: &str = "baby_bear4";
/// GF(2^128) in the basis of GHASH.
pub const GHASH: &str = "ghash";
/// GF(2^128) as tower of Fan and Paar.
pub const TOWER: &str = "tower";
/// First group of BLS12-381.
pub const BLS12_381_G1: &str = "bls12_381_g1";
/// Second group of BLS12-381.
pub const BLS12_381_G2: &str = "bls12_381_g2";
/// First group of BN254.
pub const BN254_G1: &str = "bn254_g1";
/// Second group of BN254.
pub const BN254_G2: &str = "bn254_g2";
/// Pallas.
pub const PALLAS: &str = "pallas";
/// Vesta.
pub const VESTA: &str = "vesta";
/// What names of modules with carry-less multiply-add end with.
pub const CLMAD: &str = "clmad";
/// What the name of the module for tensor cores ends with.
pub const TENSOR: &str = "tensor";
/// And of that for devices of compute capability 9.0 alone.
pub const HOPPER: &str = "hopper";
/// And of that with the experiments of the bench `matrix_seed`.
pub const SEED: &str = "seed";
