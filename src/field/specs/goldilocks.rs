//! Declares Goldilocks and its quadratic extension to the kernels.

use crate::kernels::spec::{Declarations, FieldKind, FieldSpec};

/// F_p with p = 2^64 − 2^32 + 1.
pub static GOLDILOCKS: FieldSpec = FieldSpec {
    name: "goldilocks",
    kind: FieldKind::Prime { modulus: "ffffffff00000001", generator: 7 },
    families: &["gemm", "sumcheck"],
};

/// Extension by a root of X² − 7, from which challenges of sumcheck come.
pub static GOLDILOCKS2: FieldSpec = FieldSpec {
    name: "goldilocks2",
    kind: FieldKind::Binomial { base: &GOLDILOCKS, degree: 2, residue: 7 },
    families: &["sumcheck"],
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { fields: &[&GOLDILOCKS, &GOLDILOCKS2], ..Declarations::NONE };
