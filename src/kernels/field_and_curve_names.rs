//! Names the fields and the curves in kernels.

/// Names the scalar field of BLS12-381.
pub const BLS12_381_FR: &str = "bls12_381_fr";
/// Names the base field of BLS12-381.
pub const BLS12_381_FQ: &str = "bls12_381_fq";
/// Names the scalar field of BN254.
pub const BN254_FR: &str = "bn254_fr";
/// Names the base field of BN254.
pub const BN254_FQ: &str = "bn254_fq";
/// Names the base field of Pallas, which is the scalar field of Vesta.
pub const PASTA_FP: &str = "pasta_fp";
/// Names the base field of Vesta, which is the scalar field of Pallas.
pub const PASTA_FQ: &str = "pasta_fq";
/// Names the Goldilocks field of 2^64 − 2^32 + 1 elements.
pub const GOLDILOCKS: &str = "goldilocks";
/// Names the quadratic extension of Goldilocks.
pub const GOLDILOCKS2: &str = "goldilocks2";
/// Names the BabyBear field of 15·2^27 + 1 elements.
pub const BABY_BEAR: &str = "baby_bear";
/// Names the quartic extension of BabyBear.
pub const BABY_BEAR4: &str = "baby_bear4";
/// Names the KoalaBear field of 127·2^24 + 1 elements.
pub const KOALA_BEAR: &str = "koala_bear";
/// Names the quartic extension of KoalaBear.
pub const KOALA_BEAR4: &str = "koala_bear4";
/// Names the binary field GF(2^128) in the basis of GHASH.
pub const GHASH: &str = "ghash";
/// Names the binary field GF(2^128) as a tower of quadratic extensions (Fan and Paar).
pub const TOWER: &str = "tower";
/// Names the curve of G1 of BLS12-381.
pub const BLS12_381_G1: &str = "bls12_381_g1";
/// Names the curve of G2 of BLS12-381.
pub const BLS12_381_G2: &str = "bls12_381_g2";
/// Names the curve of G1 of BN254.
pub const BN254_G1: &str = "bn254_g1";
/// Names the curve of G2 of BN254.
pub const BN254_G2: &str = "bn254_g2";
/// Names the curve Pallas.
pub const PALLAS: &str = "pallas";
/// Names the curve Vesta.
pub const VESTA: &str = "vesta";
/// Ends the names of modules that use carry-less multiply-add.
pub const CLMAD: &str = "clmad";
/// Ends the name of the module with int8 products on tensor cores.
pub const TENSOR: &str = "tensor";
/// Ends the name of the module that only devices of compute capability 9.0 run.
pub const HOPPER: &str = "hopper";
/// Ends the name of the module with the experiments of the bench `matrix_seed`.
pub const EXPERIMENTS: &str = "seed";
