//! Declares BN254 (alt_bn128, EIP-196 and EIP-197) to the kernels.

use crate::kernels::spec::{CurveSpec, Declarations, FieldKind, FieldSpec};

/// Scalar field.
pub static FR: FieldSpec = FieldSpec {
    name: "bn254_fr",
    kind: FieldKind::Prime {
        modulus: "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001",
        generator: 7,
    },
    families: &["vector", "ntt", "ntt_small", "csr", "columns", "gemm", "expression", "groth16", "plonk", "sumcheck"],
};

/// Base field.
pub static FQ: FieldSpec = FieldSpec {
    name: "bn254_fq",
    kind: FieldKind::Prime {
        modulus: "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
        generator: 3,
    },
    families: &["vector"],
};

/// Quadratic extension of the base field, F_p\[u\]/(u² + 1).
pub static FQ2: FieldSpec =
    FieldSpec { name: "bn254_fq2", kind: FieldKind::Quadratic { base: &FQ, nonresidue: 1 }, families: &["vector"] };

/// Curve of G1.
pub static G1: CurveSpec = CurveSpec {
    name: "bn254_g1",
    coordinates: &FQ,
    scalars: &FR,
    generator: [&["1"], &["2"]],
    has_cofactor: false,
    has_gpu_decode: false,
};

/// Curve of G2.
pub static G2: CurveSpec = CurveSpec {
    name: "bn254_g2",
    coordinates: &FQ2,
    scalars: &FR,
    generator: [
        &[
            "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed",
            "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2",
        ],
        &[
            "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa",
            "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b",
        ],
    ],
    has_cofactor: true,
    has_gpu_decode: false,
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations =
    Declarations { fields: &[&FR, &FQ, &FQ2], curves: &[&G1, &G2], ..Declarations::NONE };
