//! Declares Pallas and Vesta (D. Hopwood, 2020) to the kernels.

use crate::kernels::spec::{CurveSpec, Declarations, FieldKind, FieldSpec};

/// Kernel families of both fields.
const FAMILIES: &[&str] = &["vector", "ntt", "ntt_small", "csr", "gemm", "expression", "plonk", "sumcheck"];

/// Base field of Pallas, which is the scalar field of Vesta.
pub static FP: FieldSpec = FieldSpec {
    name: "pasta_fp",
    kind: FieldKind::Prime {
        modulus: "40000000000000000000000000000000224698fc094cf91b992d30ed00000001",
        generator: 5,
    },
    families: FAMILIES,
};

/// Base field of Vesta, which is the scalar field of Pallas.
pub static FQ: FieldSpec = FieldSpec {
    name: "pasta_fq",
    kind: FieldKind::Prime {
        modulus: "40000000000000000000000000000000224698fc0994a8dd8c46eb2100000001",
        generator: 5,
    },
    families: FAMILIES,
};

/// Pallas.
pub static PALLAS: CurveSpec = CurveSpec {
    name: "pallas",
    coordinates: &FP,
    scalars: &FQ,
    generator: [&["40000000000000000000000000000000224698fc094cf91b992d30ed00000000"], &["2"]],
    has_cofactor: false,
    has_gpu_decode: false,
};

/// Vesta.
pub static VESTA: CurveSpec = CurveSpec {
    name: "vesta",
    coordinates: &FQ,
    scalars: &FP,
    generator: [&["40000000000000000000000000000000224698fc0994a8dd8c46eb2100000000"], &["2"]],
    has_cofactor: false,
    has_gpu_decode: false,
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations =
    Declarations { fields: &[&FP, &FQ], curves: &[&PALLAS, &VESTA], ..Declarations::NONE };
