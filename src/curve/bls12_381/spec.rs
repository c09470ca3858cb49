//! Declares BLS12-381 (S. Bowe, 2017) to the kernels.

use crate::kernels::spec::{CurveSpec, Declarations, FieldKind, FieldSpec};

/// Declares the scalar field.
pub static FR: FieldSpec = FieldSpec {
    name: "bls12_381_fr",
    kind: FieldKind::Prime {
        modulus: "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001",
        generator: 7,
    },
    families: &["vector", "ntt", "ntt_small", "csr", "gemm", "expression", "groth16", "plonk", "sumcheck"],
};

/// Declares the base field.
pub static FQ: FieldSpec = FieldSpec {
    name: "bls12_381_fq",
    kind: FieldKind::Prime {
        modulus: "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
        generator: 2,
    },
    families: &["vector"],
};

/// Declares the quadratic extension of the base field, F_p\[u\]/(u² + 1).
pub static FQ2: FieldSpec =
    FieldSpec { name: "bls12_381_fq2", kind: FieldKind::Quadratic { base: &FQ, nonresidue: 1 }, families: &["vector"] };

/// Declares the curve of G1.
pub static G1: CurveSpec = CurveSpec {
    name: "bls12_381_g1",
    coordinates: &FQ,
    scalars: &FR,
    generator: [
        &["17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb"],
        &["08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1"],
    ],
    has_cofactor: true,
    has_gpu_decode: true,
};

/// Declares the curve of G2.
pub static G2: CurveSpec = CurveSpec {
    name: "bls12_381_g2",
    coordinates: &FQ2,
    scalars: &FR,
    generator: [
        &[
            "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8",
            "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e",
        ],
        &[
            "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801",
            "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be",
        ],
    ],
    has_cofactor: true,
    has_gpu_decode: true,
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations =
    Declarations { fields: &[&FR, &FQ, &FQ2], curves: &[&G1, &G2], ..Declarations::NONE };
