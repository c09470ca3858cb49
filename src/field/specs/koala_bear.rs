//! Declares KoalaBear and its quartic extension to the kernels.

use crate::kernels::spec::{Declarations, FieldKind, FieldSpec};

/// Declares F_p with p = 127·2^24 + 1.
pub static KOALA_BEAR: FieldSpec = FieldSpec {
    name: "koala_bear",
    kind: FieldKind::Prime { modulus: "7f000001", generator: 3 },
    families: &["ntt", "ntt_small", "sumcheck"],
};

/// Declares the extension by a root of X⁴ − 3, from which challenges of sumcheck come.
pub static KOALA_BEAR4: FieldSpec = FieldSpec {
    name: "koala_bear4",
    kind: FieldKind::Binomial { base: &KOALA_BEAR, degree: 4, residue: 3 },
    families: &["sumcheck"],
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { fields: &[&KOALA_BEAR, &KOALA_BEAR4], ..Declarations::NONE };
