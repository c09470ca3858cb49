//! Declares BabyBear and its quartic extension to the kernels.

use crate::kernels::spec::{Declarations, FieldKind, FieldSpec};

/// Declares F_p with p = 15·2^27 + 1.
pub static BABY_BEAR: FieldSpec = FieldSpec {
    name: "baby_bear",
    kind: FieldKind::Prime { modulus: "78000001", generator: 31 },
    families: &["gemm", "ntt", "ntt_small", "sumcheck"],
};

/// Declares the extension by a root of X⁴ − 11, from which challenges of sumcheck come.
pub static BABY_BEAR4: FieldSpec = FieldSpec {
    name: "baby_bear4",
    kind: FieldKind::Binomial { base: &BABY_BEAR, degree: 4, residue: 11 },
    families: &["sumcheck"],
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { fields: &[&BABY_BEAR, &BABY_BEAR4], ..Declarations::NONE };
