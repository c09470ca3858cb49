//! Declares BLS12-377 (S. Bowe, A. Chiesa, M. Green, I. Miers, P. Mishra and H. Wu, Zexe, ePrint 2018/962) to the
//! kernels, with the generators of arkworks.

use crate::kernels::spec::{CurveSpec, Declarations, FieldKind, FieldSpec};

/// Declares the scalar field. 2^47 divides its order less one.
pub static FR: FieldSpec = FieldSpec {
    name: "bls12_377_fr",
    kind: FieldKind::Prime {
        modulus: "12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001",
        generator: 22,
    },
    families: &["vector", "ntt", "ntt_small", "csr", "gemm", "expression", "plonk", "sumcheck"],
};

/// Declares the base field.
pub static FQ: FieldSpec = FieldSpec {
    name: "bls12_377_fq",
    kind: FieldKind::Prime {
        modulus: "1ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001",
        generator: 15,
    },
    families: &["vector"],
};

/// Declares the quadratic extension of the base field, F_p\[u\]/(u² + 5).
pub static FQ2: FieldSpec =
    FieldSpec { name: "bls12_377_fq2", kind: FieldKind::Quadratic { base: &FQ, nonresidue: 5 }, families: &["vector"] };

/// Declares the curve of G1, y² = x³ + 1.
pub static G1: CurveSpec = CurveSpec {
    name: "bls12_377_g1",
    coordinates: &FQ,
    scalars: &FR,
    generator: [
        &["008848defe740a67c8fc6225bf87ff5485951e2caa9d41bb188282c8bd37cb5cd5481512ffcd394eeab9b16eb21be9ef"],
        &["01914a69c5102eff1f674f5d30afeec4bd7fb348ca3e52d96d182ad44fb82305c2fe3d3634a9591afd82de55559c8ea6"],
    ],
    has_cofactor: true,
    has_gpu_decode: false,
};

/// Declares the curve of G2, y² = x³ + 1/u.
pub static G2: CurveSpec = CurveSpec {
    name: "bls12_377_g2",
    coordinates: &FQ2,
    scalars: &FR,
    generator: [
        &[
            "018480be71c785fec89630a2a3841d01c565f071203e50317ea501f557db6b9b71889f52bb53540274e3e48f7c005196",
            "00ea6040e700403170dc5a51b1b140d5532777ee6651cecbe7223ece0799c9de5cf89984bff76fe6b26bfefa6ea16afe",
        ],
        &[
            "00690d665d446f7bd960736bcbb2efb4de03ed7274b49a58e458c282f832d204f2cf88886d8c7c2ef094094409fd4ddf",
            "00f8169fd28355189e549da3151a70aa61ef11ac3d591bf12463b01acee304c24279b83f5e52270bd9a1cdd185eb8f93",
        ],
    ],
    has_cofactor: true,
    has_gpu_decode: false,
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations =
    Declarations { fields: &[&FR, &FQ, &FQ2], curves: &[&G1, &G2], ..Declarations::NONE };
