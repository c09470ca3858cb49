//! Declares both representations of GF(2^128) to the kernels.

use crate::kernels::spec::{Declarations, FieldKind, FieldSpec};

/// GF(2^128) in the basis of GHASH (NIST SP 800-38D).
pub static GHASH: FieldSpec = FieldSpec { name: "ghash", kind: FieldKind::Ghash, families: &["sumcheck"] };

/// GF(2^128) as a tower of quadratic extensions (J. Fan and C. Paar, 1997).
pub static TOWER: FieldSpec = FieldSpec { name: "tower", kind: FieldKind::Tower, families: &["sumcheck_sliced"] };

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { fields: &[&GHASH, &TOWER], ..Declarations::NONE };
